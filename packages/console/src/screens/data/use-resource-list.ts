import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import { type Problem, problemOf } from '#app/api/problem.ts'
import type { ListResource } from '#app/api/resources.ts'

import type { AdminRoutes } from '../../../../sdk/admin-routes.ts'

type Answer = AdminRoutes['get']['/admin/data/resources']['response']
export type ResourceRow = Answer['resources'][number]
type ResourceType = 'ddbTable' | 's3Bucket'

interface State {
  readonly value: readonly ResourceRow[] | undefined
  readonly problem: Problem | undefined
  readonly isLoading: boolean
}

/** All resources of a type, by name. */
export function useResourceList(type: ResourceType): ListResource<ResourceRow> {
  const state = useSignal<State>({ value: undefined, problem: undefined, isLoading: true })
  const turn = useRef(0)
  const reload = async () => {
    const own = ++turn.current
    state.value = { ...state.peek(), isLoading: true }
    const next = await allResources().then(
      (all) => ({ value: all.filter((each) => each.type === type), problem: undefined }),
      (error: unknown) => ({ value: state.peek().value, problem: problemOf(error) }),
    )
    if (own === turn.current) state.value = { ...next, isLoading: false }
  }
  useEffect(() => {
    void reload()
    return () => void turn.current++
  }, [type])
  return {
    ...state.value,
    reload,
    hasMore: false,
    isLoadingMore: false,
    loadMore: async () => {},
  }
}

async function allResources(): Promise<readonly ResourceRow[]> {
  const found: ResourceRow[] = []
  let nextToken: string | null | undefined
  do {
    const page: Answer = await api.get('/admin/data/resources', {
      query: { limit: '100', ...(nextToken && { nextToken }) },
    })
    found.push(...page.resources)
    nextToken = page.nextToken
  } while (nextToken !== null)
  return found.toSorted((one, other) => one.name.localeCompare(other.name))
}
