import type { AppError } from '#base/app-error.ts'
import { DurationHistogram } from '#base/duration-histogram.ts'
import { TallyTable } from '#base/tally.ts'
import type { PublishedOperation } from '#runtime/published/published-site.ts'

/** What an operation is made of: a function that answers in JSON, one that answers HTTP itself, or a preset. */
const CALL_KINDS = ['function', 'http', 'preset'] as const
type CallKind = (typeof CALL_KINDS)[number]

/**
 * `answered`; `cached` for an answer that was kept; `rejected` where the caller is at fault, by the function's word or the
 * preset's; `failed`, `timed_out` and `out_of_memory` by the site's code; `overloaded` by the site's limits; `interrupted`
 * and `unavailable` by the installation.
 */
const CALL_OUTCOMES = [
  'answered',
  'cached',
  'rejected',
  'failed',
  'timed_out',
  'out_of_memory',
  'overloaded',
  'interrupted',
  'unavailable',
] as const
type CallOutcomeName = (typeof CALL_OUTCOMES)[number]

/** Errors that are only the caller's are not here. */
const OUTCOMES: Partial<Record<AppError['code'], CallOutcomeName>> = {
  OperationFailed: 'failed',
  InvalidOperationResult: 'failed',
  InvalidFunction: 'failed',
  OperationTimeout: 'timed_out',
  MemoryLimitExceeded: 'out_of_memory',
  OperationOverloaded: 'overloaded',
  TooManyRequests: 'overloaded',
  OperationInterrupted: 'interrupted',
  ServiceUnavailable: 'unavailable',
  InternalError: 'unavailable',
}

/** The calls of operations of all sites since the start: visitors', nested ones and those of jobs. */
export class CallActivity {
  readonly outcomes = new TallyTable(CALL_KINDS, CALL_OUTCOMES)
  /** How long runs took, waiting in queues included; kept answers are not among them. */
  readonly #durations: Readonly<Record<CallKind, DurationHistogram>> = {
    function: new DurationHistogram(),
    http: new DurationHistogram(),
    preset: new DurationHistogram(),
  }

  get durations(): Iterable<readonly [string, DurationHistogram]> {
    return Object.entries(this.#durations)
  }

  /** An answer without a run of its own: a kept one, or that of a run which others began. */
  shared(operation: PublishedOperation, outcome: 'cached' | 'answered' | AppError): void {
    this.outcomes.add(kindOf(operation), nameOf(outcome))
  }

  /** A run that was begun for this call. */
  ran(operation: PublishedOperation, outcome: 'answered' | AppError, wallMs: number): void {
    const kind = kindOf(operation)
    this.outcomes.add(kind, nameOf(outcome))
    this.#durations[kind].observe(wallMs)
  }
}

const kindOf = ({ target, http }: PublishedOperation): CallKind => {
  if (target.kind === 'preset') return 'preset'
  return http ? 'http' : 'function'
}

const nameOf = (outcome: 'cached' | 'answered' | AppError): CallOutcomeName =>
  typeof outcome === 'string' ? outcome : (OUTCOMES[outcome.code] ?? 'rejected')
