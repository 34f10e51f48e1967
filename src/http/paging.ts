import type { Static, TSchema } from '@sinclair/typebox'
import { t } from 'elysia'

import { type Page, type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { AppContext } from '#context'

interface PageBounds {
  readonly defaultLimit: number
  readonly maxLimit: number
}

const BOUNDS: PageBounds = { defaultLimit: 25, maxLimit: 100 }

/** `limit` stays text here so that its faults get our words; however many digits it has, it is a number above the maximum. */
export const PageQuery = t.Object({
  limit: t.Optional(
    t.String({ pattern: '^0*[1-9][0-9]*$', fault: 'must be a whole number, 1 or more' }),
  ),
  nextToken: t.Optional(t.String({ maxLength: 2048 })),
})

export const PageOf = <Item extends TSchema>(item: Item) =>
  t.Object({ items: t.Array(item), nextToken: t.Union([t.String(), t.Null()]) })

/** Which page of which list. */
export interface Asked {
  /** Names site, route and filters: a token of another list is refused. */
  readonly scope: readonly string[]
  readonly query: Static<typeof PageQuery>
  readonly bounds?: PageBounds
}

/** One page of a list, which `list` reads. */
export async function answerPage<Item>(
  context: Pick<AppContext, 'pageTokens'>,
  asked: Asked,
  list: (page: PageRequest) => PageRows<Item> | Promise<PageRows<Item>>,
): Promise<Page<Item>> {
  const { items, lastKey } = await list(pageRequest(context, asked))
  return { items, nextToken: context.pageTokens.seal(asked.scope, lastKey) }
}

export function pageRequest(
  { pageTokens }: Pick<AppContext, 'pageTokens'>,
  { scope, query: { limit, nextToken }, bounds = BOUNDS }: Asked,
): PageRequest {
  return {
    limit: limitOf(limit, bounds),
    after: nextToken === undefined ? undefined : pageTokens.open(scope, nextToken),
  }
}

/** One page of a list that is short enough to be read whole, in the order of its keys. */
export function answerList<Item>(
  context: Pick<AppContext, 'pageTokens'>,
  asked: Asked,
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Promise<Page<Item>> {
  const sorted = items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return answerPage(context, asked, (page) => {
    const rest = sorted.filter((item) => page.after === undefined || keyOf(item) > page.after)
    return pageRows(rest, page.limit, keyOf)
  })
}

const limitOf = (text: string | undefined, { defaultLimit, maxLimit }: PageBounds): number =>
  text === undefined ? defaultLimit : Math.min(Number(text), maxLimit)
