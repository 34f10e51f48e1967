import { handlerFault } from '#sandbox/modules/handler-fault.ts'
import { sourceFaultOf } from '#sandbox/modules/module-fault.ts'
import {
  type FromGuest,
  type GuestFailure,
  loadCpuMs,
  type SlotDefinition,
  type SourceFault,
} from '#sandbox/protocol/protocol.ts'

import type { SiteActivity } from './site-frames.ts'

const TIMED_OUT = 'Script execution timed out.'

/** `starved`: it was ended before it had computed as long as it may, since the machine gave it no processor. */
export type StopCause = 'cpuMs' | 'memoryMb' | 'starved'

/** What one entry into an isolate came to. */
export interface EntryResult {
  readonly records: readonly FromGuest[]
  readonly elapsedMs: number
  /** Processor time, where it was stopped. */
  readonly usedMs: number
  /** Records of the section that were begun; the rest was left for the next entry. */
  readonly begun: number
  /** The call whose synchronous part was stopped, or 0. */
  readonly current: number
  /** Why the isolate cannot be used any more. */
  readonly stopped: StopCause | undefined
  /** An unhandled rejection or another uncaught value: as a message, and as the original value. */
  readonly uncaught: string | undefined
  readonly thrown: { readonly error: unknown } | undefined
  /** What of the site's code was running when it was stopped. */
  readonly activity: SiteActivity
}

export type LoadOutcome =
  | { readonly state: 'ready' }
  /** A top-level `await` is pending. */
  | { readonly state: 'waiting' }
  | { readonly state: 'failed'; readonly fault: SourceFault }
  | { readonly state: 'stopped'; readonly what: StopCause }

/** Whether what was thrown ended the isolate, and what it says if not. */
export function endingOf(
  thrown: EntryResult['thrown'],
  stopped: StopCause | undefined,
): Pick<EntryResult, 'stopped' | 'uncaught' | 'thrown'> {
  return stopped === undefined
    ? { stopped, uncaught: thrown && thrownMessage(thrown.error), thrown }
    : { stopped, uncaught: undefined, thrown: undefined }
}

/** The result of calls whose isolate is gone. */
export const lost = (
  stopped: StopCause,
  time: Pick<EntryResult, 'elapsedMs' | 'usedMs'>,
  current: number = 0,
): EntryResult => ({
  records: [],
  ...time,
  begun: 0,
  current,
  stopped,
  uncaught: undefined,
  thrown: undefined,
  activity: {},
})

/** What comes out of an isolate may be anything that can be thrown. */
export function thrownMessage(error: unknown): string {
  if (error instanceof Error) return String(error.message)
  return typeof error === 'string' ? error : `Thrown: ${JSON.stringify(error) ?? typeof error}`
}

export function loadingOf(
  entry: EntryResult,
  thrown: { readonly error: unknown } | undefined,
  definition: SlotDefinition,
): LoadOutcome {
  if (entry.stopped) return { state: 'stopped', what: entry.stopped }
  if (thrown) return { state: 'failed', fault: sourceFaultOf(thrown.error, definition.modules) }
  return loadOutcomeOf(entry.records, definition) ?? { state: 'waiting' }
}

/** What the guest said about its handler, if it said anything. */
export function loadOutcomeOf(
  records: readonly FromGuest[],
  definition: Pick<SlotDefinition, 'entry' | 'handler' | 'modules'>,
): LoadOutcome | undefined {
  for (const record of records) {
    if (record.kind === 'loaded') return { state: 'ready' }
    if (record.kind === 'unusable') return { state: 'failed', fault: handlerFault(definition) }
  }
  return undefined
}

/** What a module that awaits at its top level has thrown. */
export const strayFault = (
  { thrown }: Pick<EntryResult, 'thrown'>,
  { modules }: Pick<SlotDefinition, 'modules'>,
): LoadOutcome | undefined =>
  thrown && { state: 'failed', fault: sourceFaultOf(thrown.error, modules) }

/** Whether isolated-vm threw it, at the end of the time that was given. */
export const isTimeout = (error: unknown): boolean => thrownMessage(error) === TIMED_OUT

/** The failure of a call whose stretch hit a limit. */
export function limitFailure(
  { stopped, usedMs, activity }: EntryResult,
  definition: SlotDefinition,
  stretch: 'load' | 'call',
): GuestFailure {
  if (stopped === 'memoryMb') {
    const { memoryMb } = definition
    return { kind: 'limit', what: 'memoryMb', limit: memoryMb, used: memoryMb, ...activity }
  }
  const limit = stretch === 'load' ? loadCpuMs(definition) : definition.limits.cpuMs
  const used = Math.max(limit, Math.round(usedMs))
  return { kind: 'limit', what: 'cpuMs', limit, used, ...activity }
}
