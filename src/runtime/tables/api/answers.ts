import { type Static, Type } from '@sinclair/typebox'

/** An item or a key in plain JSON: its attributes are the site's own. */
const PlainAttributes = Type.Unsafe<Record<string, unknown>>(Type.Object({}))

export const ItemAnswer = Type.Object({ item: Type.Union([PlainAttributes, Type.Null()]) })
export type ItemAnswer = Static<typeof ItemAnswer>

export const PageAnswer = Type.Object({
  items: Type.Array(PlainAttributes),
  /** Items after the filter. */
  count: Type.Integer(),
  /** Items before it. */
  scannedCount: Type.Integer(),
  lastEvaluatedKey: Type.Optional(PlainAttributes),
  /** The same place, sealed; null at the end. */
  nextToken: Type.Union([Type.String(), Type.Null()]),
})
export type PageAnswer = Static<typeof PageAnswer>

export const WriteAnswer = Type.Object({
  ok: Type.Literal(true),
  attributes: Type.Optional(PlainAttributes),
})
export type WriteAnswer = Static<typeof WriteAnswer>

export const BatchGetAnswer = Type.Object({
  /** In the order of their keys. */
  items: Type.Array(PlainAttributes),
  /** Keys that were left unread because the answer reached 16 MiB: ask again for them. */
  unprocessedKeys: Type.Array(PlainAttributes),
})
export type BatchGetAnswer = Static<typeof BatchGetAnswer>

export const BatchWriteAnswer = Type.Object({
  ok: Type.Literal(true),
  /** Always empty: a batch is written whole or refused. */
  unprocessedItems: Type.Array(PlainAttributes, { maxItems: 0 }),
})
export type BatchWriteAnswer = Static<typeof BatchWriteAnswer>

export const TransactAnswer = Type.Object({ ok: Type.Literal(true) })
export type TransactAnswer = Static<typeof TransactAnswer>

export type TableAnswer =
  | ItemAnswer
  | PageAnswer
  | WriteAnswer
  | BatchGetAnswer
  | BatchWriteAnswer
  | TransactAnswer
