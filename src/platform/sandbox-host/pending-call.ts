import type { CallPurpose } from '#sandbox/protocol.ts'

import type { Call } from './call.ts'
import type { CallOutcome, LogLine, Program, ProgramFunction, SandboxFailure } from './sandbox.ts'

/** A call that the sandbox has accepted and not answered yet. */
export interface PendingCall {
  /** Unique in this service, never 0. */
  readonly id: number
  /** The queue it waits in: its site's, or the one of the site's ad-hoc code. */
  readonly queueKey: string
  readonly call: Call
  readonly program: Program
  readonly definition: ProgramFunction
  /** Ad-hoc code, and code that is only loaded, have a program of their own, which is thrown away afterwards. */
  readonly purpose: CallPurpose
  /** The visitor's signal of a call that had to wait. */
  leaving: AbortSignal | undefined
  readonly queuedMs: number
  /** Its function's number in the worker that it was given to. */
  slot: number
  /** Whether the worker that it was given to did not have its code. */
  cold: boolean
  /** What its site was charged when it was handed over. */
  chargedMs: number
  /** Lines it printed, where somebody wants them with the outcome. */
  readonly logs: LogLine[] | undefined
  settle: (outcome: CallOutcome) => void
  /** Whether its result was given already: then `settle` says how the rest of it ended. */
  isAnswered: boolean
  /** What the service refused to its code for a while, by code, and for how many seconds. */
  refusals?: Map<string, number>
}

export const failedOutcome = (failure: SandboxFailure, cpuUs = 0): CallOutcome => ({
  ok: false,
  failure,
  cpuUs,
})
