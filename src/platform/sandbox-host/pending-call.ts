import type { CallPurpose } from '#sandbox/protocol/protocol.ts'

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
  /** It waits for a place, holds one, has given it back while it waits for something, or is over. */
  state: 'queued' | 'running' | 'suspended' | 'ended'
  /** Whether it waits for its client, or has none any more, and is bounded among such. */
  isApart: boolean
  /** Aborted when its client has gone; asked for only where it has to wait for something. */
  leaving: AbortSignal | undefined
  /** When that was, of one that goes on. */
  leftMs: number
  readonly queuedMs: number
  /** Its function's number in the worker that it was given to. */
  slot: number
  /** Whether the worker that it was given to did not have its code. */
  cold: boolean
  /** What its site was charged when it was handed over. */
  chargedMs: number
  /** Processor time of it that the worker has reported so far. */
  spentMs: number
  /** What it probably takes each time that an answer resumes it, and how often that was since the worker reported. */
  resumeMs: number
  resumes: number
  /** What the service took to pass the last part of its request or response on; 0 for none. */
  partMs: number
  /** Lines it printed, where the caller wants them with the outcome. */
  readonly logs: LogLine[] | undefined
  settle: (outcome: CallOutcome) => void
  /** Whether its result was given already: then `settle` says how the rest of it ended. */
  isAnswered: boolean
  /** What the service refused to its code for a while, by code, and for how many seconds. */
  refusals?: Map<string, number>
}

/** What resuming a call takes that is not measured yet. */
const FIRST_RESUME_MS = 0.05

export const failedOutcome = (failure: SandboxFailure, cpuUs = 0): CallOutcome => ({
  ok: false,
  failure,
  cpuUs,
})

/** What of a call its submitter decides. */
export type SubmittedCode = Pick<PendingCall, 'program' | 'definition' | 'purpose' | 'logs'>

/** A call that waits for a place from now on. */
export const newCall = (
  id: number,
  call: Call,
  { program, definition, purpose, logs }: SubmittedCode,
  settle: PendingCall['settle'],
): PendingCall => ({
  id,
  call,
  program,
  definition,
  purpose,
  logs,
  // What is not called by a visitor waits, and is blamed, apart from what is.
  queueKey: purpose === 'operation' ? program.siteId : `${program.siteId}!${purpose}`,
  state: 'queued',
  isApart: false,
  leaving: undefined,
  leftMs: 0,
  queuedMs: performance.now(),
  slot: 0,
  cold: false,
  chargedMs: 0,
  spentMs: 0,
  resumeMs: FIRST_RESUME_MS,
  resumes: 0,
  partMs: 0,
  settle,
  isAnswered: false,
})
