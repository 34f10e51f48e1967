import { isDeepStrictEqual } from 'node:util'

import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { SiteName } from '#runtime/shape.ts'

import { type PresetBinding, PresetInput, parsePreset } from './preset-binding.ts'
import { checkExpressions } from './preset-expressions.ts'
import { checkPresetUse } from './preset-rules.ts'
import type { OperationSchema } from './schemas/json-schema.ts'
import { parseSchema } from './schemas/parse-schema.ts'

export const MAX_OPERATIONS = 500

/** Paths of the visitor runtime itself, below `/data`. */
const RESERVED = ['auth', 'public']

export const AuthInput = ClosedObject({
  mode: Type.Union([Type.Literal('public'), Type.Literal('authenticated'), Type.Literal('groups')]),
  groups: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
    }),
  ),
  /** All of which an access token must have been granted. */
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 10,
      uniqueItems: true,
    }),
  ),
})

export const CacheInput = ClosedObject({
  ttlSeconds: Type.Integer({
    minimum: 0,
    maximum: 3600,
    fault: 'must be a whole number from 0 (no cache) to 3600',
  }),
})

export const PutOperation = ClosedObject({
  operation: SiteName,
  lambdaResourceId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  preset: Type.Optional(PresetInput),
  auth: Type.Optional(AuthInput),
  cache: Type.Optional(CacheInput),
  http: Type.Optional(Type.Boolean()),
  /** JSON Schemas, which `parseSchema` reads; null for none. */
  input: Type.Optional(Type.Unknown()),
  output: Type.Optional(Type.Unknown()),
})
export type PutOperation = Static<typeof PutOperation>

/** Who may call an operation. In mode `groups`, any one of them suffices; of `scopes`, the token needs all. */
export type AuthRule =
  | { readonly mode: 'public' }
  | { readonly mode: 'authenticated'; readonly scopes?: readonly string[] }
  | {
      readonly mode: 'groups'
      readonly groups: readonly string[]
      readonly scopes?: readonly string[]
    }

/** What a token must have been granted to call an operation. */
export const scopesOfRule = (auth: AuthRule): readonly string[] =>
  auth.mode === 'public' ? [] : (auth.scopes ?? [])

/** What an operation says, without its history. */
export interface OperationBinding {
  readonly operation: string
  /** Exactly one of the two. */
  readonly lambdaResourceId: string | null
  readonly preset: PresetBinding | null
  readonly auth: AuthRule
  readonly cacheTtlSeconds: number
  /** Whether its function answers HTTP itself, with its own status, headers and bytes, at the operation's path and below it. */
  readonly http: boolean
  /** What payloads must be. */
  readonly input: OperationSchema | null
  /** What results must be. */
  readonly output: OperationSchema | null
}

export interface Operation extends OperationBinding {
  /** Grows with every overwrite and invalidation. */
  readonly version: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A callable operation by default asks for a token and keeps nothing. */
export function parseOperation(input: PutOperation): OperationBinding {
  const { operation, lambdaResourceId, preset } = input
  if (RESERVED.includes(operation)) {
    throw invalid('operation', `"${operation}" is reserved: choose another name`)
  }
  if ((lambdaResourceId === undefined) === (preset === undefined)) {
    throw invalid('lambdaResourceId', 'give either "lambdaResourceId" or "preset"')
  }
  const auth = parseAuth(input.auth ?? { mode: 'authenticated' })
  const cacheTtlSeconds = input.cache?.ttlSeconds ?? 0
  const http = input.http ?? false
  const binding = preset === undefined ? null : parsePreset(preset)
  checkHttpUse({ http, preset: binding, cacheTtlSeconds })
  const schemas = parseSchemas(input, { http, preset: binding })
  if (binding) {
    checkPresetUse(binding, { auth, cacheTtlSeconds })
    checkExpressions(binding)
  }
  return {
    operation,
    lambdaResourceId: lambdaResourceId ?? null,
    preset: binding,
    auth,
    cacheTtlSeconds,
    http,
    ...schemas,
  }
}

/** Whether `operation` has all that `binding` says. */
export const sameBinding = (operation: OperationBinding, binding: OperationBinding): boolean =>
  isDeepStrictEqual({ ...operation, ...binding }, { ...operation })

/** A schema may be left out or null. */
function parseSchemas(
  { input, output }: PutOperation,
  { http, preset }: Pick<OperationBinding, 'http' | 'preset'>,
): Pick<OperationBinding, 'input' | 'output'> {
  const schemas = {
    input: input === undefined || input === null ? null : parseSchema('input', input),
    output: output === undefined || output === null ? null : parseSchema('output', output),
  }
  for (const field of ['input', 'output'] as const) {
    if (http && schemas[field] !== null) {
      throw invalid(
        field,
        'has no meaning with "http": true: the function reads its requests itself',
      )
    }
  }
  if (preset !== null && schemas.output !== null) {
    throw invalid('output', 'is for functions: what a preset answers is known')
  }
  return schemas
}

/** What answers HTTP itself says by `Cache-Control` how its answers may be kept. */
function checkHttpUse({
  http,
  preset,
  cacheTtlSeconds,
}: Pick<OperationBinding, 'http' | 'preset' | 'cacheTtlSeconds'>): void {
  if (!http) return
  if (preset !== null) {
    throw invalid('http', 'is for functions: leave it out beside a preset')
  }
  if (cacheTtlSeconds > 0) {
    throw invalid(
      'cache.ttlSeconds',
      'has no meaning with "http": true: let the function answer with a Cache-Control header',
    )
  }
}

function parseAuth({ mode, groups, scopes }: Static<typeof AuthInput>): AuthRule {
  if (mode === 'public' && scopes !== undefined) {
    throw invalid('auth.scopes', 'has no meaning in mode "public", which takes no token')
  }
  const bounds = scopes === undefined ? {} : { scopes }
  if (mode !== 'groups') {
    if (groups === undefined) return mode === 'public' ? { mode } : { mode, ...bounds }
    throw invalid('auth.groups', `has no meaning in mode "${mode}": leave it out or use "groups"`)
  }
  if (groups) return { mode, groups, ...bounds }
  throw invalid('auth.groups', 'is required in mode "groups": name at least one group')
}
