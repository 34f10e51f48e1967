import { type Static, Type } from '@sinclair/typebox'

/** An item or a key in plain JSON: its attributes are the site's own. */
const PlainAttributes = Type.Unsafe<Record<string, unknown>>(Type.Object({}))

const Page = Type.Object({
  items: Type.Array(PlainAttributes),
  /** Items after the filter. */
  count: Type.Integer(),
  /** Items before it. */
  scannedCount: Type.Integer(),
  lastEvaluatedKey: Type.Optional(PlainAttributes),
  /** The same place, sealed; null at the end. */
  nextToken: Type.Union([Type.String(), Type.Null()]),
})
const Written = Type.Object({
  ok: Type.Literal(true),
  attributes: Type.Optional(PlainAttributes),
})

/** What each action answers. */
export const TABLE_ANSWERS = {
  get: Type.Object({ item: Type.Union([PlainAttributes, Type.Null()]) }),
  query: Page,
  scan: Page,
  put: Written,
  update: Written,
  delete: Written,
  'batch-get': Type.Object({
    /** In the order of their keys. */
    items: Type.Array(PlainAttributes),
    /** Keys that were left unread because the answer reached 16 MiB: ask again for them. */
    unprocessedKeys: Type.Array(PlainAttributes),
  }),
  'batch-write': Type.Object({
    ok: Type.Literal(true),
    /** Always empty: a batch is written whole or refused. */
    unprocessedItems: Type.Array(PlainAttributes, { maxItems: 0 }),
  }),
  'transact-write': Type.Object({ ok: Type.Literal(true) }),
}
export type TableAction = keyof typeof TABLE_ANSWERS
export type TableAnswer<Action extends TableAction = TableAction> = Static<
  (typeof TABLE_ANSWERS)[Action]
>

// Its own keys, and no others.
export const TABLE_ACTIONS = Object.keys(TABLE_ANSWERS) as readonly TableAction[]
