import type { JSX } from 'preact'

export interface Bar {
  readonly value: number
  /** What is shown on hovering: `12:00: 42`. */
  readonly title: string
}

export interface BarChartProps {
  /** What the chart says, in a sentence, for screen readers. */
  readonly label: string
  readonly bars: readonly Bar[]
  readonly tone?: 'accent' | 'bad'
}

const HEIGHT = 40
const STEP = 10

/** Small bars, one for each point in time. */
export function BarChart({ label, bars, tone = 'accent' }: BarChartProps): JSX.Element {
  const largest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <svg
      class={`bar-chart ${tone}`}
      viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map(({ value, title }, index) => {
        const height = value === 0 ? 1 : Math.max(2, (value / largest) * HEIGHT)
        return (
          <rect
            key={index}
            class={value === 0 ? 'zero' : undefined}
            x={index * STEP + 1}
            y={HEIGHT - height}
            width={STEP - 2}
            height={height}
          >
            <title>{title}</title>
          </rect>
        )
      })}
    </svg>
  )
}
