import { type Static, Type } from '@sinclair/typebox'

const ListedObject = Type.Object({
  key: Type.String(),
  size: Type.Integer(),
  lastModified: Type.String(),
  etag: Type.String(),
})

/** `items` and `commonPrefixes` are in the order of their UTF-8 bytes. */
export const ListAnswer = Type.Object({
  items: Type.Array(ListedObject),
  commonPrefixes: Type.Array(Type.String()),
  isTruncated: Type.Boolean(),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})
export type ListAnswer = Static<typeof ListAnswer>

export const GetAnswer = Type.Object({
  key: Type.String(),
  body: Type.String(),
  encoding: Type.Union([Type.Literal('utf8'), Type.Literal('base64')]),
  contentType: Type.String(),
  /** The size of the whole object, in bytes. */
  size: Type.Integer(),
  etag: Type.String(),
  lastModified: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
  /** As HTTP writes it, `bytes 0-9/100`; only when a range was asked for. */
  contentRange: Type.Optional(Type.String()),
})
export type GetAnswer = Static<typeof GetAnswer>

export const PutAnswer = Type.Object({
  ok: Type.Literal(true),
  key: Type.String(),
  etag: Type.String(),
  size: Type.Integer(),
})
export type PutAnswer = Static<typeof PutAnswer>

export const DeleteAnswer = Type.Object({ ok: Type.Literal(true), key: Type.String() })
export type DeleteAnswer = Static<typeof DeleteAnswer>

/** A request that works without a token: send exactly this method and these headers. */
export const PresignAnswer = Type.Object({
  method: Type.Union([Type.Literal('GET'), Type.Literal('PUT')]),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  expiresAt: Type.String(),
})
export type PresignAnswer = Static<typeof PresignAnswer>

export type BucketAnswer = ListAnswer | GetAnswer | PutAnswer | DeleteAnswer | PresignAnswer
