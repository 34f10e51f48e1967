import { isDeepStrictEqual } from 'node:util'

import { changedValues } from '#base/changed-values.ts'
import type { AuditDetail } from '#platform/postgres/audit.ts'

import { type OperationBinding, scopesOfRule } from './model.ts'

const MAX_NAMES = 1000

/** For the audit trail: what the operation calls, and who may call it. */
export const operationDetail = (binding: OperationBinding): AuditDetail => ({
  operation: binding.operation,
  ...valuesOf(binding),
})

/** For the audit trail: what differs. What a preset fixes may be items of a table, and schemas are long: only their names are in it. */
export function operationChange(before: OperationBinding, after: OperationBinding): AuditDetail {
  const changed = (
    [
      ...(before.preset?.preset === after.preset?.preset ? (['preset'] as const) : []),
      'input',
      'output',
    ] as const
  ).filter((part) => !isDeepStrictEqual(before[part], after[part]))
  return {
    operation: after.operation,
    ...changedValues(valuesOf(before), valuesOf(after)),
    ...(changed.length > 0 && { changed: changed.join(' ') }),
  }
}

function valuesOf({ lambdaResourceId, preset, auth, cacheTtlSeconds, http }: OperationBinding) {
  const scopes = scopesOfRule(auth)
  return {
    ...(lambdaResourceId !== null && { function: lambdaResourceId }),
    ...(preset !== null && { preset: preset.preset }),
    mode: auth.mode,
    ...(auth.mode === 'groups' && { groups: named(auth.groups) }),
    ...(scopes.length > 0 && { scopes: named(scopes) }),
    ...(cacheTtlSeconds > 0 && { cacheTtlSeconds }),
    ...(http && { http }),
  }
}

const named = (names: readonly string[]): string => names.join(' ').slice(0, MAX_NAMES)
