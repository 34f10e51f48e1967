import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { isStorable } from '#base/storable-text.ts'

const MAX_CODE_BYTES = 1024 * 1024

export const Grant = ClosedObject({
  resourceId: Type.String({ minLength: 1, maxLength: 64 }),
  access: Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('readWrite')]),
})

/** A function as its site sends it: its code inline, or the path of a file inside the deployed artifact. */
export const FunctionConfigInput = ClosedObject({
  code: Type.Optional(Type.String({ minLength: 1 })),
  artifact: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  handler: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_$][A-Za-z0-9_$]{0,63}$',
      fault: 'must be the name of an export, such as "default"',
    }),
  ),
  timeoutSeconds: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 900, fault: 'must be above 0 and at most 900' }),
  ),
  memoryMb: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 512, fault: 'must be a whole number from 16 to 512' }),
  ),
  environment: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
        fault: 'must be the name of an environment variable',
      }),
      { maxItems: 100, uniqueItems: true },
    ),
  ),
  resources: Type.Optional(Type.Array(Grant, { maxItems: 100 })),
})
export type FunctionConfigInput = Static<typeof FunctionConfigInput>

export type Grant = Static<typeof Grant>

/** A config as it is stored, with its defaults filled in. Exactly one of `code` and `artifact` is there. */
export interface FunctionConfig {
  readonly code?: string
  readonly artifact?: string
  readonly handler: string
  readonly timeoutSeconds: number
  readonly memoryMb: number
  /** Names of the site's environment variables that the function may see. */
  readonly environment: readonly string[]
  readonly resources: readonly Grant[]
}

export function checkFunction(input: FunctionConfigInput): FunctionConfig {
  return {
    ...checkSource(input),
    handler: input.handler ?? 'default',
    timeoutSeconds: input.timeoutSeconds ?? 15,
    memoryMb: input.memoryMb ?? 128,
    environment: input.environment ?? [],
    resources: checkGrants(input.resources ?? []),
  }
}

function checkSource({
  code,
  artifact,
}: FunctionConfigInput): { code: string } | { artifact: string } {
  if (code !== undefined && artifact === undefined) return { code: checkCode(code) }
  if (artifact !== undefined && code === undefined) return { artifact: checkPath(artifact) }
  throw invalid('config', 'give either "code" or "artifact", the path of a file in the deployment')
}

function checkCode(code: string): string {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES) {
    throw invalid('config.code', 'is over 1 MiB: deploy it as a file and name that in "artifact"')
  }
  if (!isStorable(code)) {
    throw invalid('config.code', 'holds a NUL character or half a surrogate pair')
  }
  return code
}

function checkPath(path: string): string {
  const steps = path.split('/')
  const plain = steps.every((step) => step !== '' && step !== '.' && step !== '..')
  if (plain && !path.includes('\\') && isStorable(path)) return path
  throw invalid('config.artifact', 'must be a relative path inside the artifact, without ".."')
}

function checkGrants(grants: readonly Grant[]): readonly Grant[] {
  const seen = new Set<string>()
  for (const [at, { resourceId }] of grants.entries()) {
    if (seen.has(resourceId)) {
      throw invalid(`config.resources[${at}].resourceId`, `"${resourceId}" is named twice`)
    }
    seen.add(resourceId)
  }
  return grants
}
