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

/** Which page of which list. */
interface Asked {
  /** Names site, route and filters: a token of another list is refused. */
  readonly scope: readonly string[]
  readonly query: Static<typeof PageQuery>
  readonly bounds?: PageBounds
}

/** One page of a list, which `list` reads. */
export async function answerPage<Item>(
  { pageTokens }: Pick<AppContext, 'pageTokens'>,
  { scope, query: { limit, nextToken }, bounds = BOUNDS }: Asked,
  list: (page: PageRequest) => PageRows<Item> | Promise<PageRows<Item>>,
): Promise<Page<Item>> {
  const page = {
    limit: limitOf(limit, bounds),
    after: nextToken === undefined ? undefined : pageTokens.open(scope, nextToken),
  }
  const { items, lastKey } = await list(page)
  return { items, nextToken: pageTokens.seal(scope, lastKey) }
}

/** A list that is short enough to be given whole: in pages only to a caller who asks for them. */
export async function answerList<Item>(
  context: Pick<AppContext, 'pageTokens'>,
  asked: Asked,
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Promise<Page<Item>> {
  const { limit, nextToken } = asked.query
  if (limit === undefined && nextToken === undefined) return { items: [...items], nextToken: null }
  const sorted = items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return answerPage(context, asked, (page) => {
    const rest = sorted.filter((item) => page.after === undefined || keyOf(item) > page.after)
    return pageRows(rest, page.limit, keyOf)
  })
}

function limitOf(text: string | undefined, { defaultLimit, maxLimit }: PageBounds): number {
  if (text === undefined) return defaultLimit
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    throw invalid('limit', `must be a whole number from 1 to ${maxLimit}`)
  }
  return Math.min(Number(text), maxLimit)
}
