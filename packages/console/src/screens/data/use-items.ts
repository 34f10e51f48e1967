import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import { type Problem, problemOf } from '#app/api/problem.ts'
import type { ListResource } from '#app/api/resources.ts'

import type { Item } from './exact-json.ts'
import type { ReadRequest } from './read-request.ts'
import { readPage } from './table-api.ts'

const PAGE_SIZE = 100
/** Pages that a filter leaves empty are passed over, up to so many at once. */
const MAX_EMPTY_PAGES = 10

interface State {
  readonly items: readonly Item[] | undefined
  /** Items that were read before the filter. */
  readonly scanned: number
  readonly nextToken: string | null
  readonly problem: Problem | undefined
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
}

export interface ItemList extends ListResource<Item> {
  readonly scanned: number
  /** Shows the items otherwise. */
  readonly change: (change: (items: readonly Item[]) => readonly Item[]) => void
}

const START: State = {
  items: undefined,
  scanned: 0,
  nextToken: null,
  problem: undefined,
  isLoading: true,
  isLoadingMore: false,
}

/** What a request reads, page by page. */
export function useItems(resourceId: string, request: ReadRequest | undefined): ItemList {
  const state = useSignal<State>(START)
  const turn = useRef(0)
  const wanted = request && JSON.stringify(request)
  const load = async (before: Pick<State, 'items' | 'scanned' | 'nextToken'>) => {
    if (request === undefined) return
    const own = ++turn.current
    try {
      const next = await nextItems(resourceId, request, before)
      if (own === turn.current) state.value = { ...START, ...next, isLoading: false }
    } catch (error) {
      if (own !== turn.current) return
      const problem = problemOf(error)
      state.value = { ...state.peek(), problem, isLoading: false, isLoadingMore: false }
    }
  }
  const reload = async () => {
    state.value = { ...state.peek(), isLoading: true, isLoadingMore: false }
    await load({ items: [], scanned: 0, nextToken: null })
  }
  useEffect(() => {
    state.value = START
    void reload()
    return () => void turn.current++
  }, [resourceId, wanted])
  const { items, problem, isLoading, isLoadingMore, nextToken, scanned } = state.value
  return {
    value: items,
    problem,
    isLoading,
    isLoadingMore,
    scanned,
    hasMore: nextToken !== null,
    reload,
    loadMore: async () => {
      if (state.peek().isLoading || state.peek().isLoadingMore) return
      state.value = { ...state.peek(), isLoadingMore: true }
      await load(state.peek())
    },
    change: (change) => {
      const current = state.peek()
      if (current.items) state.value = { ...current, items: change(current.items) }
    },
  }
}

async function nextItems(
  resourceId: string,
  request: ReadRequest,
  before: Pick<State, 'items' | 'scanned' | 'nextToken'>,
): Promise<Pick<State, 'items' | 'scanned' | 'nextToken'>> {
  let { nextToken, scanned } = before
  for (let pages = 1; ; pages++) {
    const page = await readPage(resourceId, request, { limit: PAGE_SIZE, nextToken })
    scanned += page.scannedCount
    nextToken = page.nextToken
    if (page.items.length > 0 || nextToken === null || pages === MAX_EMPTY_PAGES) {
      return { items: [...(before.items ?? []), ...page.items], scanned, nextToken }
    }
  }
}
