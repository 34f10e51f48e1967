import type { JSX } from 'preact'

import { type Bar, BarChart } from '#app/components/bar-chart.tsx'
import { Meter } from '#app/components/meter.tsx'
import { bytesText, millisecondsText, shortNumber } from '#app/components/numbers.ts'
import { Section } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { Tabs } from '#app/components/tabs.tsx'
import { localeOf } from '#app/texts/languages.ts'
import { currentLanguage } from '#app/texts/texts.ts'

import { t } from './texts.ts'
import { PERIODS, type PeriodName, type UsagePoint, seriesOf } from './usage-series.ts'
import { useUsage } from './use-usage.ts'

/** Calls, failures and CPU time of a period, and what is stored. */
export function Usage({ name }: { readonly name: PeriodName }): JSX.Element {
  const { period, usage } = useUsage(name)
  const names = Object.keys(PERIODS) as PeriodName[]
  return (
    <>
      <Tabs
        label={t('period')}
        tabs={names.map((one) => ({
          label: t(`period.${one}`),
          href: one === '24h' ? '/' : `/?period=${one}`,
          current: one === name ? 'true' : undefined,
        }))}
      />
      <ProblemNote problem={usage.problem} onRetry={usage.reload} />
      {usage.value === undefined ? (
        usage.problem === undefined && <Skeleton lines={4} />
      ) : (
        <>
          <Figures series={seriesOf(usage.value.items, period)} name={name} />
          <Stored usage={usage.value} />
        </>
      )}
    </>
  )
}

interface FiguresProps {
  readonly series: readonly UsagePoint[]
  readonly name: PeriodName
}

function Figures({ series, name }: FiguresProps): JSX.Element {
  const shared = { series, name }
  return (
    <div class="home-grid">
      <Figure {...shared} label={t('calls')} of={({ calls }) => calls} format={shortNumber} />
      <Figure
        {...shared}
        label={t('errors')}
        of={({ errors }) => errors}
        format={shortNumber}
        isBad
      />
      <Figure {...shared} label={t('cpu')} of={({ cpuMs }) => cpuMs} format={millisecondsText} />
    </div>
  )
}

interface FigureProps extends FiguresProps {
  readonly label: string
  readonly of: (point: UsagePoint) => number
  readonly format: (value: number) => string
  readonly isBad?: boolean
}

function Figure({ series, name, label, of, format, isBad = false }: FigureProps): JSX.Element {
  const time = new Intl.DateTimeFormat(
    localeOf(currentLanguage()),
    name === '24h' ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' },
  )
  const bars: readonly Bar[] = series.map((point) => ({
    value: of(point),
    title: `${time.format(point.at)}: ${format(of(point))}`,
  }))
  const total = format(bars.reduce((sum, { value }) => sum + value, 0))
  return (
    <div class="figure">
      <span class="faint small">{label}</span>
      <span class="figure-value">{total}</span>
      <BarChart
        label={t('chart', { what: label, total, period: t(`period.${name}`) })}
        bars={bars}
        tone={isBad ? 'bad' : 'accent'}
      />
    </div>
  )
}

interface StoredProps {
  readonly usage: {
    readonly limits: Readonly<Record<string, number>>
    readonly tables: { readonly usedBytes: number }
    readonly buckets: { readonly usedBytes: number }
    readonly mail: { readonly usedBytes: number }
  }
}

function Stored({ usage: { limits, tables, buckets, mail } }: StoredProps): JSX.Element {
  return (
    <Section title={t('stored')}>
      <div class="meters">
        <Meter
          label={t('stored.tables')}
          used={tables.usedBytes}
          limit={limits['tableBytes']}
          format={bytesText}
        />
        <Meter
          label={t('stored.buckets')}
          used={buckets.usedBytes}
          limit={limits['bucketBytes']}
          format={bytesText}
        />
        <Meter
          label={t('stored.mail')}
          used={mail.usedBytes}
          limit={limits['mailBytes']}
          format={bytesText}
        />
      </div>
    </Section>
  )
}
