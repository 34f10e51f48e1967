import type { JSX } from 'preact'

import { exactTime } from '#app/components/time.tsx'
import { setQuery } from '#app/router/router.ts'
import { localeOf } from '#app/texts/languages.ts'
import { currentLanguage } from '#app/texts/texts.ts'

import { type Bar, histogramOf } from './histogram.ts'
import type { LogLine } from './log-filter.ts'
import { t } from './texts.ts'

const HEIGHT = 48
const WIDTH = 10
const GAP = 2

/** How many lines were written when. A click on a bar shows its time alone; the fields of the toolbar do the same. */
export function LogHistogram({ lines }: { readonly lines: readonly LogLine[] }): JSX.Element {
  const { bars, highest, error, warn, other } = histogramOf(lines)
  const width = bars.length * WIDTH
  const first = bars[0]
  const last = bars.at(-1)
  return (
    <figure class="log-histogram card">
      <figcaption class="log-legend">
        <span class="log-key error">{t('count.error', { count: error })}</span>
        <span class="log-key warn">{t('count.warn', { count: warn })}</span>
        <span class="log-key other">{t('count.other', { count: other })}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map((bar, index) => (
          <HistogramBar key={bar.from} bar={bar} x={index * WIDTH} highest={highest} />
        ))}
      </svg>
      <div class="log-axis faint">
        <span>{first && axisTime(first.from)}</span>
        <span>{last && axisTime(last.to)}</span>
      </div>
    </figure>
  )
}

interface HistogramBarProps {
  readonly bar: Bar
  readonly x: number
  readonly highest: number
}

function HistogramBar({ bar, x, highest }: HistogramBarProps): JSX.Element {
  const scale = HEIGHT / Math.max(1, highest)
  const heights = [
    ['other', bar.other * scale],
    ['warn', bar.warn * scale],
    ['error', bar.error * scale],
  ] as const
  let top = HEIGHT
  return (
    <g class="log-bar" onClick={() => showTimeOf(bar)}>
      <title>{`${exactTime(new Date(bar.from))}: ${bar.error + bar.warn + bar.other}`}</title>
      <rect class="log-bar-ground" x={x} y={0} width={WIDTH} height={HEIGHT} />
      {heights.map(([kind, height]) => {
        top -= height
        return (
          height > 0 && (
            <rect key={kind} class={kind} x={x} y={top} width={WIDTH - GAP} height={height} />
          )
        )
      })}
    </g>
  )
}

const showTimeOf = ({ from, to }: Bar): void =>
  setQuery(
    {
      range: 'custom',
      since: new Date(from).toISOString(),
      until: new Date(to).toISOString(),
    },
    {},
  )

/** `30 Nov, 12:00:05` */
const axisTime = (at: number): string =>
  new Intl.DateTimeFormat(localeOf(currentLanguage()), {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(new Date(at))
