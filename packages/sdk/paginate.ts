export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly nextToken: string | null
}

/**
 * The items of all pages of a list, each page asked for when it is reached:
 * `paginate((nextToken) => client.admin.get('/admin/api/aliases', { query: { nextToken } }))`.
 */
export async function* paginate<Item>(
  list: (nextToken: string | undefined) => Promise<ListPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let nextToken: string | undefined
  do {
    const page = await list(nextToken)
    yield* page.items
    nextToken = page.nextToken ?? undefined
  } while (nextToken !== undefined)
}
