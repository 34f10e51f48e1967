import { Histogram } from './histogram.ts'

/** Milliseconds. */
export interface LatencySummary {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export interface TallySummary {
  readonly name: string
  /** Answers as expected. */
  readonly succeeded: number
  /** Everything else, by what happened. */
  readonly errors: Readonly<Record<string, number>>
  readonly latencyMs: LatencySummary
}

/** What became of the requests of one tenant, or of all. */
export class Tally {
  readonly #name: string
  readonly #latency = new Histogram()
  readonly #errors = new Map<string, number>()
  #succeeded = 0

  constructor(name: string) {
    this.#name = name
  }

  /** Every answer counts in the percentiles, also one that is not as expected. */
  answered(latencyMs: number, fault: string | undefined): void {
    this.#latency.record(latencyMs * 1000)
    if (fault === undefined) this.#succeeded += 1
    else this.failed(fault)
  }

  failed(kind: string, count = 1): void {
    this.#errors.set(kind, (this.#errors.get(kind) ?? 0) + count)
  }

  summary(): TallySummary {
    return {
      name: this.#name,
      succeeded: this.#succeeded,
      errors: Object.fromEntries(this.#errors),
      latencyMs: summarize(this.#latency),
    }
  }
}

export function summarize(latency: Histogram): LatencySummary {
  const ms = (us: number) => Math.round(us) / 1000
  return {
    mean: ms(latency.meanUs),
    p50: ms(latency.quantileUs(0.5)),
    p90: ms(latency.quantileUs(0.9)),
    p99: ms(latency.quantileUs(0.99)),
    p999: ms(latency.quantileUs(0.999)),
    max: ms(latency.maxUs),
  }
}
