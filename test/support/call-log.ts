import { setTimeout as delay } from 'node:timers/promises'

export interface LoggedCall {
  readonly kind: string
  /** Of `performance.now()`. */
  readonly beganMs: number
  readonly tookMs: number
  /** The first words of what went wrong, if anything did. */
  readonly fault: string | undefined
}

export interface Span {
  readonly kind?: string
  readonly fromMs?: number
  readonly toMs?: number
}

const FAULT_LENGTH = 160

/** What was called, when, and how it ended. */
export class CallLog {
  readonly calls: LoggedCall[] = []

  /** Whether it went well. */
  async record(kind: string, work: () => Promise<unknown>): Promise<boolean> {
    const beganMs = performance.now()
    const fault = await work().then(() => undefined, faultOf)
    this.calls.push({ kind, beganMs, tookMs: performance.now() - beganMs, fault })
    return fault === undefined
  }

  /** Records it again and again, one after the other. */
  async repeat(kind: string, ends: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    while (!ends.aborted) {
      await this.record(kind, work)
      await delay(20)
    }
  }

  /** Those that began within the span, its end left out. */
  during({ kind, fromMs = 0, toMs = Infinity }: Span): LoggedCall[] {
    return this.calls.filter(
      (call) =>
        (kind === undefined || call.kind === kind) && call.beganMs >= fromMs && call.beganMs < toMs,
    )
  }

  /** How often each fault came up. */
  faults(span: Span): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { fault } of this.during(span)) {
      if (fault !== undefined) counts[fault] = (counts[fault] ?? 0) + 1
    }
    return counts
  }

  /** How long it took from then on until one succeeded; Infinity when none did. */
  recoveryMs(kind: string, fromMs: number): number {
    const ends = this.calls
      .filter((call) => call.kind === kind && call.fault === undefined)
      .map(({ beganMs, tookMs }) => beganMs + tookMs)
      .filter((endedMs) => endedMs >= fromMs)
    return Math.min(...ends) - fromMs
  }
}

export const slowestMs = (calls: readonly LoggedCall[]): number =>
  Math.max(0, ...calls.map(({ tookMs }) => tookMs))

function faultOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  return words.replace(/,"requestId.*/, '').slice(0, FAULT_LENGTH)
}
