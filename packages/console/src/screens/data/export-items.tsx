import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { type Problem, problemOf } from '#app/api/problem.ts'
import { Button } from '#app/components/button.tsx'
import { Icon } from '#app/components/icon.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { toast } from '#app/components/toasts.tsx'

import type { Item } from './exact-json.ts'
import { writeCsvItems, writeJsonItems } from './items-text.ts'
import type { ReadRequest } from './read-request.ts'
import { saveFile } from './save-file.ts'
import { readPage } from './table-api.ts'
import { type TableShape, columnNames } from './table-shape.ts'
import { t } from './texts.ts'

const PAGE_SIZE = 1000

type Format = 'json' | 'csv'

export interface Exporting {
  /** Items read so far, while it runs. */
  readonly count: number | undefined
  readonly problem: Problem | undefined
  readonly start: (format: Format, request: ReadRequest) => void
  readonly stop: () => void
}

/** Reads all items that a request finds, and saves them as a file. */
export function useExport(resourceId: string, name: string, shape: TableShape): Exporting {
  const count = useSignal<number | undefined>(undefined)
  const problem = useSignal<Problem | undefined>(undefined)
  const running = useRef<AbortController>(undefined)
  const stop = () => {
    running.current?.abort()
    running.current = undefined
    count.value = undefined
  }
  useEffect(() => stop, [resourceId])
  const run = async (format: Format, request: ReadRequest, { signal }: AbortController) => {
    const items: Item[] = []
    let nextToken: string | null = null
    do {
      const page = await readPage(resourceId, request, { limit: PAGE_SIZE, nextToken, signal })
      signal.throwIfAborted()
      items.push(...page.items)
      count.value = items.length
      nextToken = page.nextToken
    } while (nextToken !== null)
    const [text, type] =
      format === 'json'
        ? [writeJsonItems(items), 'application/json']
        : [writeCsvItems(columnNames(shape, items), items), 'text/csv']
    saveFile(`${name}.${format}`, text, type)
    toast(t('export.done', { count: items.length }))
  }
  return {
    count: count.value,
    problem: problem.value,
    stop,
    start: (format, request) => {
      stop()
      const controller = new AbortController()
      running.current = controller
      problem.value = undefined
      count.value = 0
      run(format, request, controller)
        .catch((error: unknown) => {
          if (!controller.signal.aborted) problem.value = problemOf(error)
        })
        .finally(() => {
          if (running.current === controller) stop()
        })
    },
  }
}

export function ExportNote({ exporting }: { readonly exporting: Exporting }): JSX.Element | null {
  const { count, problem, stop } = exporting
  if (count === undefined) return <ProblemNote problem={problem} />
  return (
    <div class="note" role="status">
      <Icon name="download" />
      <p class="note-text">{t('export.running', { count })}</p>
      <Button onClick={stop}>{t('export.stop')}</Button>
    </div>
  )
}
