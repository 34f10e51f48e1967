import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ClosedObject } from '#base/closed-object.ts'
import { schemaFaults } from '#base/schema-faults.ts'
import { invalidFields } from '#runtime/shape.ts'

/** A whole object in one JSON answer or request, decoded. Longer ones use signed URLs. */
export const MAX_BODY_BYTES = 6 * 1024 * 1024
const MAX_LIST_KEYS = 1000
const DEFAULT_EXPIRY_SECONDS = 900

const Encoding = Type.Union([Type.Literal('utf8'), Type.Literal('base64')])
const Seconds = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 604_800, fault: 'must be a whole number from 1 to 604800' }),
)
const Offset = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const ListInput = ClosedObject({
  prefix: Type.Optional(Type.String()),
  delimiter: Type.Optional(Type.String()),
  maxKeys: Type.Optional(Type.Integer({ minimum: 1, fault: 'must be a whole number from 1' })),
  startAfter: Type.Optional(Type.String()),
  nextToken: Type.Optional(Type.Union([Type.String({ maxLength: 8192 }), Type.Null()])),
})

export const GetInput = ClosedObject({
  key: Type.String(),
  encoding: Type.Optional(Encoding),
  /** Inclusive on both ends, as in HTTP. */
  range: Type.Optional(
    Type.Union([
      ClosedObject({ start: Offset, end: Type.Optional(Offset) }),
      Type.String({ maxLength: 64 }),
    ]),
  ),
})

export const PutInput = ClosedObject({
  key: Type.String(),
  body: Type.String(),
  encoding: Type.Optional(Encoding),
  contentType: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  ifNoneMatch: Type.Optional(
    Type.Literal('*', { fault: 'must be "*": only a key without an object' }),
  ),
})

export const DeleteInput = ClosedObject({ key: Type.String() })

export const PresignGetInput = ClosedObject({
  key: Type.String(),
  expiresInSeconds: Seconds,
  downloadName: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
})

export const PresignPutInput = ClosedObject({
  key: Type.String(),
  /** Left out, the URL takes any. */
  contentType: Type.Optional(Type.String()),
  /** Left out, the URL takes what the bucket takes. */
  sizeBytes: Type.Optional(
    Type.Integer({ minimum: 0, fault: 'must be the exact length in bytes' }),
  ),
  expiresInSeconds: Seconds,
})

/** Bodies may hold NUL, which only texts for the database may not: so this is not `parseShape`. */
export function parseInput<Schema extends TSchema>(schema: Schema, input: unknown): Static<Schema> {
  const sent = input ?? {}
  const faults = schemaFaults(Value.Errors(schema, sent))
  if (faults.length > 0) throw invalidFields(faults)
  return sent as Static<Schema>
}

export const listedKeys = ({ maxKeys }: Static<typeof ListInput>): number =>
  Math.min(maxKeys ?? MAX_LIST_KEYS, MAX_LIST_KEYS)

export const expiresInSecondsOf = (input: { readonly expiresInSeconds?: number }): number =>
  input.expiresInSeconds ?? DEFAULT_EXPIRY_SECONDS
