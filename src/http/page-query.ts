import type { Static, TSchema } from '@sinclair/typebox'
import { t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import { type Page, type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { AppContext } from '#context'

interface PageBounds {
  readonly defaultLimit: number
  readonly maxLimit: number
}

const BOUNDS: PageBounds = { defaultLimit: 25, maxLimit: 100 }

/** `limit` stays text here so that its faults get our words. */
export const PageQuery = t.Object({
  limit: t.Optional(t.String({ maxLength: 20 })),
  nextToken: t.Optional(t.String({ maxLength: 2048 })),
})

export const PageOf = <Item extends TSchema>(item: Item) =>
  t.Object({ items: t.Array(item), nextToken: t.Union([t.String(), t.Null()]) })

/** `scope` names site, route and filters: a token of another list is refused. */
export function pageRequest(
  context: Pick<AppContext, 'pageTokens'>,
  scope: readonly string[],
  query: Static<typeof PageQuery>,
  bounds = BOUNDS,
): PageRequest {
  return {
    limit: limitOf(query.limit, bounds),
    after:
      query.nextToken === undefined ? undefined : context.pageTokens.open(scope, query.nextToken),
  }
}

export const pageAnswer = <Item>(
  context: Pick<AppContext, 'pageTokens'>,
  scope: readonly string[],
  rows: PageRows<Item>,
): { items: Item[]; nextToken: string | null } => ({
  items: rows.items,
  nextToken: context.pageTokens.seal(scope, rows.lastKey),
})

/** A list that is short enough to be given whole: in pages only to a caller who asks for them. */
export function listAnswer<Item>(
  context: Pick<AppContext, 'pageTokens'>,
  scope: readonly string[],
  query: Static<typeof PageQuery>,
  list: { readonly items: readonly Item[]; readonly keyOf: (item: Item) => string },
): Page<Item> {
  const { items, keyOf } = list
  if (query.limit === undefined && query.nextToken === undefined) {
    return { items: [...items], nextToken: null }
  }
  const { limit, after } = pageRequest(context, scope, query)
  const rest = items
    .filter((item) => after === undefined || keyOf(item) > after)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return pageAnswer(context, scope, pageRows(rest, limit, keyOf))
}

function limitOf(text: string | undefined, { defaultLimit, maxLimit }: PageBounds): number {
  if (text === undefined) return defaultLimit
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    throw invalid('limit', `must be a whole number from 1 to ${maxLimit}`)
  }
  return Math.min(Number(text), maxLimit)
}
