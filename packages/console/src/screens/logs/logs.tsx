import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'

import { useGet } from '#app/api/resources.ts'
import { Badge, type Tone } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { readConsoleConfig } from '#app/console-config.ts'
import { currentQuery, setQuery } from '#app/router/router.ts'

import { LiveLog, type LogState, MAX_LINES } from './live-log.ts'
import { type LogLine, jsonLinesOf, logQueryOf, passes } from './log-filter.ts'
import { LogHistogram } from './log-histogram.tsx'
import { LogList } from './log-list.tsx'
import { LogPanel } from './log-panel.tsx'
import { LogToolbar } from './log-toolbar.tsx'
import { t } from './texts.ts'

/** In the query: what the service filters by. Another value makes another log. */
const ASKED = ['level', 'operation', 'requestId', 'range', 'since', 'until']

/** The log of the site as it is written, with filters in the address. */
export function Logs(): JSX.Element {
  const address = currentQuery.value
  const asked = ASKED.map((name) => address.get(name) ?? '').join('\n')
  const query = useMemo(() => logQueryOf(address, new Date()), [asked])
  const log = useMemo(() => new LiveLog(query), [query])
  const attempt = useSignal(0)
  useEffect(() => {
    void log.run()
  }, [log, attempt.value])
  useEffect(() => () => log.stop(), [log])
  const resources = useGet('/admin/data/resources', { query: { limit: '100' } })
  const operations = resources.value?.operations ?? []
  const filter = {
    text: address.get('q') ?? '',
    operations: operationsOf(address.get('function'), operations),
  }
  const shown = log.lines.value.filter((line) => passes(line, filter))
  const show = address.get('show')
  return (
    <Page
      title={t('title')}
      lead={t('lead')}
      call={{
        method: 'GET',
        path: '/admin/data/logs',
        query: { ...query },
        command: commandOf(query),
      }}
      actions={<LogActions log={log} shown={shown} />}
    >
      <LogToolbar
        operations={operations.map(({ operation }) => operation)}
        functions={functionsOf(resources.value?.resources)}
      />
      <ProblemNote problem={log.problem.value} onRetry={() => attempt.value++} />
      <ShownLines log={log} shown={shown} />
      {show !== null && (
        <LogPanel
          shown={show}
          lines={log.lines.value}
          onClose={() => setQuery({ show: undefined })}
        />
      )}
    </Page>
  )
}

interface ShownLinesProps {
  readonly log: LiveLog
  /** Those that pass the filters. */
  readonly shown: readonly LogLine[]
}

function ShownLines({ log, shown }: ShownLinesProps): JSX.Element {
  if (log.state.value === 'loading') return <Skeleton lines={10} />
  if (shown.length === 0) return <NoLines log={log} />
  return (
    <>
      <LogHistogram lines={shown} />
      <LogList lines={shown} log={log} />
      <p class="faint small">{t('kept', { count: MAX_LINES })}</p>
    </>
  )
}

const TONES: Readonly<Record<LogState, Tone>> = {
  loading: 'neutral',
  live: 'good',
  reconnecting: 'warning',
  ended: 'bad',
  off: 'neutral',
}

function LogActions({ log, shown }: ShownLinesProps): JSX.Element {
  const state = log.state.value
  const isPaused = log.isPaused.value
  const isOver = state === 'ended' || state === 'off'
  return (
    <>
      <span role="status">
        {isPaused ? (
          <Badge tone="warning">{t('paused', { count: log.held.value.length })}</Badge>
        ) : (
          <Badge tone={TONES[state]}>{t(`state.${state}`)}</Badge>
        )}
      </span>
      {!isOver && (
        <Button
          icon={isPaused ? 'play' : 'pause'}
          onClick={() => (isPaused ? log.resume() : log.pause())}
        >
          {isPaused ? t('continue') : t('pause')}
        </Button>
      )}
      <Button icon="download" disabled={shown.length === 0} onClick={() => download(shown)}>
        {t('export')}
      </Button>
    </>
  )
}

function NoLines({ log }: { readonly log: LiveLog }): JSX.Element {
  const isFiltered = [...currentQuery.value.keys()].some((name) => name !== 'show')
  if (log.isLoadingOlder.value) return <Skeleton lines={10} />
  if (!isFiltered) {
    return (
      <EmptyState icon="log" title={t('none')} command={commandOf({})}>
        {t('none-lead')}
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="filter"
      title={t('none-filtered')}
      action={
        <span class="toolbar">
          {log.hasOlder && <Button onClick={async () => log.loadOlder()}>{t('older')}</Button>}
          <Button onClick={clearFilters}>{t('clear')}</Button>
        </span>
      }
    >
      {t('none-filtered-lead', { count: log.lines.value.length })}
    </EmptyState>
  )
}

const clearFilters = () =>
  setQuery(Object.fromEntries([...currentQuery.peek().keys()].map((name) => [name, undefined])))

interface TypedResource {
  readonly resourceId: string
  readonly name: string
  readonly type: string
}

const functionsOf = (resources: readonly TypedResource[] = []): readonly TypedResource[] =>
  resources.filter(({ type }) => type === 'lambdaFunction')

interface BoundOperation {
  readonly operation: string
  readonly lambdaResourceId?: string
}

const operationsOf = (
  resourceId: string | null,
  operations: readonly BoundOperation[],
): ReadonlySet<string> | undefined =>
  resourceId === null
    ? undefined
    : new Set(
        operations.flatMap(({ operation, lambdaResourceId }) =>
          lambdaResourceId === resourceId ? operation : [],
        ),
      )

function commandOf(query: ReturnType<typeof logQueryOf>): string {
  const options = [
    query.operation !== undefined && `--operation ${query.operation}`,
    query.requestId !== undefined && `--request-id ${query.requestId}`,
    query.level !== undefined && `--level ${query.level}`,
    query.since !== undefined && `--since ${query.since}`,
    query.until === undefined && '--follow',
  ].filter((option) => option !== false)
  return ['croft site logs', readConsoleConfig(document).domain, ...options].join(' ')
}

function download(lines: readonly LogLine[]): void {
  const url = URL.createObjectURL(new Blob([jsonLinesOf(lines)], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `logs-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.jsonl`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
