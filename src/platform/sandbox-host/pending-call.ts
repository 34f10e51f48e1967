import type {
  CallAuthority,
  CallOutcome,
  LogLine,
  Program,
  ProgramFunction,
  SandboxFailure,
} from './sandbox.ts'

/** A call that has been accepted and not been answered. */
export interface PendingCall {
  /** Unique in this service, never 0. */
  readonly id: number
  /** Whose turn it is counted on: a site, or its ad-hoc code. */
  readonly queueKey: string
  readonly program: Program
  readonly definition: ProgramFunction
  /** Ad-hoc code in a context of its own, thrown away afterwards. */
  readonly adHoc: boolean
  readonly operation: string
  readonly requestId: string
  /** JSON text. */
  readonly auth: string
  readonly authority: CallAuthority
  readonly depth: number
  readonly address?: string | undefined
  readonly signal: AbortSignal | undefined
  readonly visitorSignal?: (() => AbortSignal) | undefined
  /** Of a call that had to wait: its visitor's. */
  leaving?: AbortSignal | undefined
  /** JSON text. */
  readonly body: string
  readonly queuedMs: number
  /** What its site was charged when it was handed over. */
  chargedMs: number
  /** Lines it printed, where somebody wants them with the outcome. */
  readonly logs: LogLine[] | undefined
  readonly settle: (outcome: CallOutcome) => void
}

export const failedOutcome = (failure: SandboxFailure, cpuUs = 0): CallOutcome => ({
  ok: false,
  failure,
  cpuUs,
})
