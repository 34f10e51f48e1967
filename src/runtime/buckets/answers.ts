import { type Static, Type } from '@sinclair/typebox'

const ListedObject = Type.Object({
  key: Type.String(),
  size: Type.Integer(),
  lastModified: Type.String(),
  etag: Type.String(),
})

/** `items` and `commonPrefixes` are in the order of their UTF-8 bytes. */
const ListAnswer = Type.Object({
  items: Type.Array(ListedObject),
  commonPrefixes: Type.Array(Type.String()),
  isTruncated: Type.Boolean(),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

const GetAnswer = Type.Object({
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

const PutAnswer = Type.Object({
  ok: Type.Literal(true),
  key: Type.String(),
  etag: Type.String(),
  size: Type.Integer(),
})

const DeleteAnswer = Type.Object({ ok: Type.Literal(true), key: Type.String() })

/** A request that works without a token: send exactly this method and these headers. */
const PresignAnswer = Type.Object({
  method: Type.Union([Type.Literal('GET'), Type.Literal('PUT')]),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  expiresAt: Type.String(),
})

/** What each action answers. */
export const BUCKET_ANSWERS = {
  'list-objects': ListAnswer,
  'get-object': GetAnswer,
  'put-object': PutAnswer,
  'delete-object': DeleteAnswer,
  'presign-get-object': PresignAnswer,
  'presign-put-object': PresignAnswer,
}
export type BucketAction = keyof typeof BUCKET_ANSWERS
export type BucketAnswer<Action extends BucketAction = BucketAction> = Static<
  (typeof BUCKET_ANSWERS)[Action]
>

// Its own keys, and no others.
export const BUCKET_ACTIONS = Object.keys(BUCKET_ANSWERS) as readonly BucketAction[]
