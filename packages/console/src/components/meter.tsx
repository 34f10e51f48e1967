import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface MeterProps {
  readonly label: string
  readonly used: number
  /** Undefined where there is none. */
  readonly limit: number | undefined
  readonly format: (value: number) => string
}

/** How much of a limit is used. */
export function Meter({ label, used, limit, format }: MeterProps): JSX.Element {
  const fill = useRef<HTMLSpanElement>(null)
  const part = limit === undefined || limit === 0 ? 0 : Math.min(1, used / limit)
  useEffect(() => {
    if (fill.current) fill.current.style.width = `${Math.max(part * 100, used > 0 ? 1 : 0)}%`
  }, [part, used])
  return (
    <div class="meter">
      <p>
        <span>{label}</span>
        <span class="faint">
          {limit === undefined ? format(used) : `${format(used)} / ${format(limit)}`}
        </span>
      </p>
      <span class="meter-track" aria-hidden="true">
        <span ref={fill} class={part > 0.9 ? 'meter-fill full' : 'meter-fill'} />
      </span>
    </div>
  )
}
