import { type Static, Type } from '@sinclair/typebox'

import { type AuthRule, type Operation, scopesOfRule } from '#runtime/operations/model.ts'
import type { PresetBinding } from '#runtime/operations/preset-binding.ts'
import type { PermissionsSync } from '#runtime/revisions/model.ts'

import { MaybeText, PermissionsSyncView } from './views.ts'

export const OperationView = Type.Object(
  {
    operation: Type.String(),
    /** The function, or what the preset works on. */
    resourceId: MaybeText,
    lambdaResourceId: Type.Optional(Type.String()),
    preset: Type.Optional(
      Type.Object({
        preset: Type.String(),
        resourceId: MaybeText,
        fixed: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        allowed: Type.Optional(Type.Array(Type.String())),
        owner: Type.Optional(
          Type.Union([
            Type.Object({ attribute: Type.String() }),
            Type.Object({ prefix: Type.String() }),
          ]),
        ),
      }),
    ),
    auth: Type.Object({
      mode: Type.String(),
      groups: Type.Optional(Type.Array(Type.String())),
      scopes: Type.Optional(Type.Array(Type.String())),
    }),
    cache: Type.Object({ ttlSeconds: Type.Integer() }),
    /** There only where its function answers HTTP itself. */
    http: Type.Optional(Type.Literal(true)),
    /** Its JSON Schemas, where it has them. */
    input: Type.Optional(Type.Unknown()),
    output: Type.Optional(Type.Unknown()),
    createdAt: Type.Date(),
    updatedAt: Type.Date(),
    permissionsSync: PermissionsSyncView,
  },
  { title: 'Operation' },
)

export function operationView(
  { operation, lambdaResourceId, preset, auth, cacheTtlSeconds, http, ...rest }: Operation,
  permissionsSync: PermissionsSync,
): Static<typeof OperationView> {
  return {
    operation,
    resourceId: lambdaResourceId ?? preset?.resourceId ?? null,
    ...(lambdaResourceId === null ? {} : { lambdaResourceId }),
    ...(preset === null ? {} : { preset: presetView(preset) }),
    auth: ruleView(auth),
    cache: { ttlSeconds: cacheTtlSeconds },
    ...(http ? { http } : {}),
    ...(rest.input === null ? {} : { input: rest.input }),
    ...(rest.output === null ? {} : { output: rest.output }),
    createdAt: rest.createdAt,
    updatedAt: rest.updatedAt,
    permissionsSync,
  }
}

function ruleView(auth: AuthRule): Static<typeof OperationView>['auth'] {
  const scopes = scopesOfRule(auth)
  return {
    mode: auth.mode,
    ...(auth.mode === 'groups' && { groups: [...auth.groups] }),
    ...(scopes.length > 0 && { scopes: [...scopes] }),
  }
}

const presetView = ({ fixed, allowed, ...rest }: PresetBinding) => ({
  ...rest,
  ...(fixed === undefined ? {} : { fixed: { ...fixed } }),
  ...(allowed === undefined ? {} : { allowed: [...allowed] }),
})
