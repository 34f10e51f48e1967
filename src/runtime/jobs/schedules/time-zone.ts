const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** No zone is further from UTC than this, and clocks change at most once around a day. */
const REACH_MS = 15 * HOUR_MS
/** Names of zones are words; an engine may also take `+02:00`, which follows no rules of any place. */
const ZONE_NAME = /^[A-Za-z]/
const REMEMBERED = 1000

/** How the clocks of a zone run around one local day: by one offset from UTC, and from a moment on by another. */
export interface DayClock {
  readonly beforeMs: number
  readonly afterMs: number
  /** When the offset changes; Infinity when it does not. */
  readonly changesAt: number
}

/** The rules of one IANA time zone. Local times are written as the milliseconds that the same digits have in UTC. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  localTime(at: number): number {
    return at + this.#offset(at)
  }

  /** `midnight` is the local start of the day. */
  dayClock(midnight: number): DayClock {
    let [low, high] = [midnight - REACH_MS, midnight + 24 * HOUR_MS + REACH_MS]
    const [beforeMs, afterMs] = [this.#offset(low), this.#offset(high)]
    if (beforeMs === afterMs) return { beforeMs, afterMs, changesAt: Infinity }
    while (high - low > MINUTE_MS) {
      const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS
      if (this.#offset(middle) === beforeMs) low = middle
      else high = middle
    }
    return { beforeMs, afterMs, changesAt: high }
  }

  #offset(at: number): number {
    const parts = new Map(this.#format.formatToParts(at).map(({ type, value }) => [type, value]))
    const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
    const local = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    )
    return local - Math.floor(at / 1000) * 1000
  }
}

const zones = new Map<string, TimeZone>()

/** Undefined for a name that is no IANA time zone. */
export function timeZone(name: string): TimeZone | undefined {
  const known = zones.get(name)
  if (known) return known
  if (!ZONE_NAME.test(name)) return undefined
  try {
    const zone = new TimeZone(name)
    if (zones.size < REMEMBERED) zones.set(name, zone)
    return zone
  } catch {
    return undefined
  }
}

/** The moments at which clocks show that local time: one, two in the hour that comes twice, none in the one left out. */
export function instantsOf(local: number, { beforeMs, afterMs, changesAt }: DayClock): number[] {
  const [early, late] = [local - beforeMs, local - afterMs]
  if (early >= changesAt) return late >= changesAt ? [late] : []
  return late >= changesAt ? [early, late] : [early]
}
