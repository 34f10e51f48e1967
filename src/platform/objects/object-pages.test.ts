import { expect, test } from 'vitest'

import { objectPages, objectSizes } from './object-pages.ts'
import type { ListOptions } from './object-store.ts'

const lastModified = new Date(0)
const PAGES = [['a/1', 'a/2'], [], ['a/3']].map((keys) =>
  keys.map((key, at) => ({ key, sizeBytes: at, etag: '"e"', lastModified })),
)

/** A store of three pages, one of them empty, which names the next by its number. */
function pagedStore() {
  const asked: ListOptions[] = []
  return {
    asked,
    async list(options: ListOptions) {
      asked.push(options)
      const at = Number(options.continuation ?? 0)
      const continuation = at + 1 < PAGES.length ? String(at + 1) : undefined
      return { objects: PAGES[at] ?? [], commonPrefixes: [], continuation }
    },
  }
}

test('pages are asked for one after the other, to the last', async () => {
  const store = pagedStore()
  const seen: number[] = []
  for await (const page of objectPages(store, 'a/')) seen.push(page.length, store.asked.length)
  expect(seen).toEqual([2, 1, 0, 2, 1, 3])
  expect(store.asked.map(({ prefix, continuation }) => [prefix, continuation])).toEqual([
    ['a/', undefined],
    ['a/', '1'],
    ['a/', '2'],
  ])
})

test('sizes are those of all pages, by what follows the prefix', async () => {
  const sizes = await objectSizes(pagedStore(), 'a/')
  expect([...sizes]).toEqual([
    ['1', 0],
    ['2', 1],
    ['3', 0],
  ])
})
