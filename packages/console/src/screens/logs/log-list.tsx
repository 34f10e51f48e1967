import { type ReadonlySignal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { Button } from '#app/components/button.tsx'
import { windowOf } from '#app/components/row-window.ts'
import { setQuery } from '#app/router/router.ts'
import { localeOf } from '#app/texts/languages.ts'
import { currentLanguage } from '#app/texts/texts.ts'

import type { LiveLog } from './live-log.ts'
import type { LogLine } from './log-filter.ts'
import { t } from './texts.ts'

const ROW_HEIGHT = 28
const LOAD_AHEAD = 600

export interface LogListProps {
  /** Newest first. */
  readonly lines: readonly LogLine[]
  readonly log: LiveLog
}

/** The lines, newest first. Who has scrolled down keeps the place while new lines arrive. */
export function LogList({ lines, log }: LogListProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null)
  const { shown, measure } = useLineWindow(frame, lines)
  const unseen = useKeptPlace(frame, lines)
  const focused = useSignal(0)
  const onScroll = () => {
    const element = frame.current
    if (element === null) return
    measure()
    if (element.scrollTop === 0) unseen.value = 0
    const below = element.scrollHeight - element.scrollTop - element.clientHeight
    if (below < LOAD_AHEAD && log.hasOlder) void log.loadOlder()
  }
  const move = (event: KeyboardEvent) => {
    const to = placeAfter(event.key, focused.peek())
    if (to === undefined) return
    event.preventDefault()
    focused.value = Math.min(lines.length - 1, Math.max(0, to))
    focusLine(frame.current, focused)
  }
  const inReach = focused.value >= shown.from && focused.value < shown.to
  return (
    <div class="log-frame">
      {unseen.value > 0 && (
        <div class="log-unseen">
          <Button look="primary" onClick={() => frame.current?.scrollTo({ top: 0 })}>
            {t('unseen', { count: unseen.value })}
          </Button>
        </div>
      )}
      <div ref={frame} class="log-scroll" onScroll={onScroll}>
        <ol class="log-lines" aria-label={t('title')} onKeyDown={move}>
          <Spacer height={shown.before} />
          {lines.slice(shown.from, shown.to).map((line, offset) => {
            const index = shown.from + offset
            const isFocusable = inReach ? index === focused.value : offset === 0
            return (
              <li key={line.logId}>
                <LineButton
                  line={line}
                  index={index}
                  isFocusable={isFocusable}
                  onFocus={() => (focused.value = index)}
                />
              </li>
            )
          })}
          <Spacer height={shown.after} />
        </ol>
        <OlderLines log={log} />
      </div>
    </div>
  )
}

function OlderLines({ log }: { readonly log: LiveLog }): JSX.Element | null {
  if (log.hasDropped.value) return <p class="log-older faint small">{t('dropped')}</p>
  if (!log.hasOlder) return null
  return (
    <div class="log-older">
      <Button onClick={async () => log.loadOlder()} isBusy={log.isLoadingOlder.value}>
        {t('older')}
      </Button>
    </div>
  )
}

interface LineButtonProps {
  readonly line: LogLine
  readonly index: number
  readonly isFocusable: boolean
  readonly onFocus: () => void
}

const LineButton = ({ line, index, isFocusable, onFocus }: LineButtonProps): JSX.Element => (
  <button
    type="button"
    class={`log-line ${line.level}`}
    tabIndex={isFocusable ? 0 : -1}
    data-index={index}
    onFocus={onFocus}
    onClick={() => setQuery({ show: line.requestId ?? `#${line.logId}` }, {})}
  >
    <time dateTime={line.at}>{clockOf(line.at)}</time>
    <span class="log-level">{line.level}</span>
    <span class="log-operation">{line.operation ?? t(`kind.${kindOf(line)}`)}</span>
    <span class="log-message">{line.message}</span>
  </button>
)

const kindOf = ({ kind }: LogLine): 'platform' | 'console' =>
  kind === 'platform' ? 'platform' : 'console'

/** `27 Nov 12:00:05.250` */
const clockOf = (at: string): string =>
  new Intl.DateTimeFormat(localeOf(currentLanguage()), {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hour12: false,
  }).format(new Date(at))

function Spacer({ height }: { readonly height: number }): JSX.Element | null {
  const ref = useRef<HTMLLIElement>(null)
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.height = `${height}px`
  }, [height])
  return height === 0 ? null : <li ref={ref} aria-hidden="true" />
}

interface Frame {
  readonly current: HTMLDivElement | null
}

const rowHeightOf = (frame: HTMLDivElement): number =>
  frame.querySelector<HTMLElement>('.log-line')?.offsetHeight ?? ROW_HEIGHT

function useLineWindow(frame: Frame, { length: count }: readonly LogLine[]) {
  const place = useSignal({ top: 0, height: 800, rowHeight: ROW_HEIGHT })
  const measure = () => {
    const element = frame.current
    if (element === null) return
    const rowHeight = rowHeightOf(element)
    // A step of several rows: not every pixel renders.
    const top = Math.floor(element.scrollTop / (rowHeight * 5)) * rowHeight * 5
    const { clientHeight: height } = element
    const before = place.peek()
    if (before.top !== top || before.height !== height || before.rowHeight !== rowHeight) {
      place.value = { top, height, rowHeight }
    }
  }
  useEffect(() => {
    measure()
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [])
  return { shown: windowOf({ count, ...place.value }), measure }
}

/** Keeps what is in view in its place while lines are put above it. Returns how many of them were not seen. */
function useKeptPlace(frame: Frame, lines: readonly LogLine[]) {
  const unseen = useSignal(0)
  const newest = useRef(lines[0]?.logId)
  useLayoutEffect(() => {
    const element = frame.current
    const added = lines.findIndex(({ logId }) => logId === newest.current)
    newest.current = lines[0]?.logId
    if (element === null || added <= 0 || element.scrollTop === 0) return
    unseen.value += added
    element.scrollTop += added * rowHeightOf(element)
  }, [lines])
  return unseen
}

function placeAfter(key: string, at: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + 20,
    PageUp: at - 20,
    Home: 0,
    End: Infinity,
  }
  return moves[key]
}

/** Scrolls the line into view; it is in the page after the next frame. A key that is held down may have moved on until then. */
function focusLine(frame: HTMLDivElement | null, focused: ReadonlySignal<number>): void {
  if (frame === null) return
  const index = focused.peek()
  const height = rowHeightOf(frame)
  const top = index * height
  if (top < frame.scrollTop) frame.scrollTop = top
  const bottom = top + height - frame.clientHeight
  if (bottom > frame.scrollTop) frame.scrollTop = bottom
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (focused.peek() !== index) return
      frame.querySelector<HTMLElement>(`[data-index='${index}']`)?.focus({ preventScroll: true })
    }),
  )
}
