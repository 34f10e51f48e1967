import { useEffect, useRef } from 'preact/hooks'

import type { AdminRoutes } from '../../../sdk/admin-routes.ts'
import type { InputOf, ResponseOf } from '../../../sdk/route-types.ts'
import { api } from './api.ts'
import { type CacheEntry, type CacheState, ResourceCache } from './cache.ts'
import type { Problem } from './problem.ts'

type GetRoutes = AdminRoutes['get']
export type GetPath = keyof GetRoutes
type Answer<Path extends GetPath> = ResponseOf<GetRoutes[Path]>

/** The routes that list in pages. */
export type ListPath = {
  [Path in GetPath]: Answer<Path> extends { readonly items: readonly unknown[] } ? Path : never
}[GetPath]
export type ItemOf<Path extends ListPath> =
  Answer<Path> extends { readonly items: readonly (infer Item)[] } ? Item : never

export interface Resource<Value> {
  /** Undefined until the first response; then the last one, also while it is asked for again. */
  readonly value: Value | undefined
  readonly problem: Problem | undefined
  readonly isLoading: boolean
  readonly reload: () => Promise<void>
}

export interface ListResource<Item> extends Resource<readonly Item[]> {
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => Promise<void>
}

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
}

interface Page {
  readonly items: readonly unknown[]
  readonly nextToken: string | null
}

/** All pages that are on show, as one. */
interface Pages extends Page {
  readonly count: number
}

const cache = new ResourceCache()

/** What a GET of the admin API answers: at once what it answered before, then what it answers now. */
export function useGet<Path extends GetPath>(
  path: Path,
  ...[input]: InputOf<GetRoutes[Path]>
): Resource<Answer<Path>> {
  const entry = entryOf(path, input, async () => get(path, input))
  const state = useEntry(entry)
  return {
    value: state.value as Answer<Path> | undefined,
    problem: state.problem,
    isLoading: state.isLoading,
    reload: async () => cache.reload(entry),
  }
}

/** A list of the admin API, page by page. */
export function useList<Path extends ListPath>(
  path: Path,
  ...[input]: InputOf<GetRoutes[Path]>
): ListResource<ItemOf<Path>> {
  const entry = entryOf(path, input, async (previous) => loadPages(path, input, previous))
  const state = useEntry(entry)
  const pages = state.value as Pages | undefined
  return {
    value: pages?.items as readonly ItemOf<Path>[] | undefined,
    problem: state.problem,
    isLoading: state.isLoading,
    isLoadingMore: state.isLoadingMore,
    hasMore: pages !== undefined && pages.nextToken !== null,
    reload: async () => cache.reload(entry),
    loadMore: async () => {
      const current = entry.state.peek()
      if (current.isLoading || current.isLoadingMore) return
      await cache.change(entry, async (shown) => nextPage(path, input, shown), {
        isLoadingMore: true,
      })
    },
  }
}

/** Reads again what is on show of these routes, whatever it was asked with. After every change. */
export const invalidate = (...paths: readonly GetPath[]): void => cache.invalidate(paths)

/** Shows the items of a list otherwise, before the service has answered. Follow it with `invalidate`, whatever the service answers. */
export function updateList<Path extends ListPath>(
  path: Path,
  change: (items: readonly ItemOf<Path>[]) => readonly ItemOf<Path>[],
): void {
  cache.update([path], (value) => {
    const pages = value as Pages
    return { ...pages, items: change(pages.items as readonly ItemOf<Path>[]) }
  })
}

function entryOf(
  path: GetPath,
  input: unknown,
  load: (previous: unknown) => Promise<unknown>,
): CacheEntry {
  const { params = {}, query = {} } = (input ?? {}) as AnyInput
  return cache.entry(JSON.stringify([path, params, query]), path, load)
}

/** The state of an entry. While another entry loads for the first time, what was on show stays. */
function useEntry(entry: CacheEntry): CacheState {
  const last = useRef<{ readonly path: string; readonly value: unknown }>(undefined)
  useEffect(() => cache.use(entry), [entry])
  const state = entry.state.value
  if (state.value !== undefined) last.current = { path: entry.path, value: state.value }
  const isFirst = state.value === undefined && state.problem === undefined
  return isFirst && last.current?.path === entry.path
    ? { ...state, value: last.current.value }
    : state
}

async function loadPages(path: GetPath, input: unknown, previous: unknown): Promise<Pages> {
  const count = (previous as Pages | undefined)?.count ?? 1
  let pages = await nextPage(path, input, undefined)
  while (pages.count < count && pages.nextToken !== null) pages = await nextPage(path, input, pages)
  return pages
}

async function nextPage(path: GetPath, input: unknown, shown: unknown): Promise<Pages> {
  const before = shown as Pages | undefined
  const { query, ...rest } = (input ?? {}) as AnyInput
  const page = (await get(path, {
    ...rest,
    query: { ...query, ...(before?.nextToken ? { nextToken: before.nextToken } : {}) },
  })) as Page
  return {
    items: [...(before?.items ?? []), ...page.items],
    nextToken: page.nextToken,
    count: (before?.count ?? 0) + 1,
  }
}

/** The types of input and answer are those of the hooks above. */
const get = (path: GetPath, input: unknown): Promise<unknown> =>
  (api.get as (path: GetPath, input: unknown) => Promise<unknown>)(path, input)
