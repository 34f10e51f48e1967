import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { MAX_DEPTH, jsonTextWithin } from '#base/json-depth.ts'

const MAX_CODE_BYTES = 1024 * 1024

export const ComputeBody = ClosedObject({
  code: Type.String({ minLength: 1 }),
  payload: Type.Optional(Type.Unknown()),
  timeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 60, fault: 'must be a whole number from 1 to 60' }),
  ),
})
export type ComputeBody = Static<typeof ComputeBody>

const ComputeLine = Type.Object({ at: Type.String(), level: Type.String(), message: Type.String() })
export type ComputeLine = Static<typeof ComputeLine>

/** Of code that ran to its end. */
export const ComputeAnswer = Type.Object({
  ok: Type.Literal(true),
  data: Type.Unknown(),
  logs: Type.Array(ComputeLine),
  durationMs: Type.Number(),
})

export function checkComputeCode(code: string): void {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES) throw invalid('code', 'is over 1 MiB')
}

/** As the sandbox takes it; bounded in depth like the payload of an operation. */
export function payloadText(payload: unknown): string {
  const text = jsonTextWithin(payload, MAX_DEPTH)
  if (text === undefined) {
    throw invalid('payload', `is nested deeper than ${MAX_DEPTH} levels`)
  }
  return text
}
