import type { JSX } from 'preact'

import { useList } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { CodeBlock, copyText } from '#app/components/code-block.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { Time } from '#app/components/time.tsx'
import { setQuery } from '#app/router/router.ts'
import { t as shell } from '#app/texts/shell.ts'

import { type LogLine, jsonLinesOf } from './log-filter.ts'
import { messageParts, requestLinesOf } from './log-request.ts'
import { t } from './texts.ts'

export interface LogPanelProps {
  /** A request id, or `#` and the id of a line that belongs to no request. */
  readonly shown: string
  /** Those that are loaded. */
  readonly lines: readonly LogLine[]
  readonly onClose: () => void
}

/** Everything that a request wrote, beside the log. */
export const LogPanel = ({ shown, lines, onClose }: LogPanelProps): JSX.Element =>
  shown.startsWith('#') ? (
    <Dialog title={t('line')} isPanel onClose={onClose}>
      <LinesOf newest={lines.filter(({ logId }) => logId === shown.slice(1))} />
    </Dialog>
  ) : (
    <Dialog title={t('request')} isPanel onClose={onClose}>
      <RequestOf requestId={shown} />
    </Dialog>
  )

function RequestOf({ requestId }: { readonly requestId: string }): JSX.Element {
  const list = useList('/admin/data/logs', { query: { requestId, limit: 100 } })
  return (
    <>
      <CodeBlock code={requestId} label={t('request')} />
      <div class="toolbar">
        <Button icon="filter" onClick={() => setQuery({ requestId, show: undefined }, {})}>
          {t('only-request')}
        </Button>
        <Button
          icon="copy"
          disabled={!list.value?.length}
          onClick={async () => copyText(jsonLinesOf(list.value ?? []))}
        >
          {t('copy-lines')}
        </Button>
      </div>
      <ProblemNote problem={list.problem} onRetry={list.reload} />
      {list.value === undefined ? <Skeleton lines={6} /> : <LinesOf newest={list.value} />}
      {list.hasMore && (
        <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
          {shell('list.more')}
        </Button>
      )}
    </>
  )
}

function LinesOf({ newest }: { readonly newest: readonly LogLine[] }): JSX.Element {
  const { lines, operations, spanMs, failure } = requestLinesOf(newest)
  const [first] = lines
  if (first === undefined) return <p class="faint">{t('line-gone')}</p>
  return (
    <>
      <dl class="facts">
        <dt>{t('began')}</dt>
        <dd>
          <Time at={first.at} isAbsolute />
        </dd>
        {operations.length > 0 && (
          <>
            <dt>{t('calls')}</dt>
            <dd>{operations.join(' → ')}</dd>
          </>
        )}
        {lines.length > 1 && (
          <>
            <dt>{t('span')}</dt>
            <dd>{`${spanMs} ms`}</dd>
          </>
        )}
        {failure !== undefined && (
          <>
            <dt>{t('failure')}</dt>
            <dd>
              <code>{failure}</code>
            </dd>
          </>
        )}
      </dl>
      <ol class="log-story">
        {lines.map((line) => (
          <StoryLine key={line.logId} line={line} since={Date.parse(first.at)} />
        ))}
      </ol>
    </>
  )
}

function StoryLine({
  line,
  since,
}: {
  readonly line: LogLine
  readonly since: number
}): JSX.Element {
  const tone = line.level === 'error' ? 'bad' : line.level === 'warn' ? 'warning' : 'neutral'
  return (
    <li>
      <p class="log-story-head">
        <span class="faint">{`+${Date.parse(line.at) - since} ms`}</span>
        <Badge tone={tone}>{line.level}</Badge>
        <span class="faint">{line.operation}</span>
      </p>
      <pre>
        {messageParts(line.message).map(({ text, isPosition }, index) =>
          isPosition ? <mark key={index}>{text}</mark> : text,
        )}
      </pre>
      {hasMore(line) && <pre class="faint">{JSON.stringify(line.fields, null, 2)}</pre>}
    </li>
  )
}

/** The code of an error is among the facts already. */
const hasMore = ({ kind, fields }: LogLine): boolean =>
  kind !== 'failure' && typeof fields === 'object' && fields !== null
