import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { MAX_DEPTH, isNestedDeeper } from '#base/json-depth.ts'

const MAX_CODE_BYTES = 1024 * 1024

export const ComputeBody = Type.Object(
  {
    code: Type.String({ minLength: 1 }),
    payload: Type.Optional(Type.Unknown()),
    timeoutSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 60, fault: 'must be a whole number from 1 to 60' }),
    ),
  },
  { additionalProperties: false },
)
export type ComputeBody = Static<typeof ComputeBody>

export function checkComputeCode(code: string): void {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES) throw invalid('code', 'is over 1 MiB')
}

/** As the sandbox takes it; bounded in depth like the payload of an operation. */
export function payloadText(payload: unknown): string {
  const text = stringify(payload ?? null)
  if (text === undefined || isNestedDeeper(text, MAX_DEPTH)) {
    throw invalid('payload', `is nested deeper than ${MAX_DEPTH} levels`)
  }
  return text
}

/** Undefined when the value is nested too deep even for the serialiser. */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A stack that fits an answer: its first lines, without our own frames and what a hostile message could blow it up with. */
export const trimStack = (stack: string): string =>
  ownLines(stack).slice(0, 10).join('\n').toWellFormed()

/** The first line number of a stack's frames, 1-based. */
export function lineOf(stack: string): number | undefined {
  const frame = /^\s*at .*?:(\d{1,9})(?::\d{1,9})?\)?$/m.exec(ownLines(stack).join('\n'))
  return frame?.[1] === undefined ? undefined : Number(frame[1])
}

/** What calls the code, and what it calls of the web platform, is ours. */
const ownLines = (stack: string): string[] =>
  stack
    .slice(0, 4000)
    .split('\n')
    .filter((line) => !/^\s*at .*croft:prelude:/.test(line))
