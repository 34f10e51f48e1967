import { handlerFault } from './handler-fault.ts'
import { sourceFaultOf } from './module-fault.ts'
import type { FromGuest, SlotDefinition, SourceFault } from './protocol.ts'
import type { SiteActivity } from './site-frames.ts'

const TIMED_OUT = 'Script execution timed out.'

/** What one entry into an isolate came to. */
export interface EntryResult {
  readonly records: readonly FromGuest[]
  readonly elapsedMs: number
  /** Records of the section that were begun; the rest was left for the next entry. */
  readonly begun: number
  /** The call whose synchronous part was stopped, or 0. */
  readonly current: number
  /** Why the isolate cannot be used any more. */
  readonly stopped: 'cpuMs' | 'memoryMb' | undefined
  /** A rejection that nobody handled, or whatever else got out: in words, and as it came. */
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
  | { readonly state: 'stopped'; readonly what: 'cpuMs' | 'memoryMb' }

/** Whether what was thrown ended the isolate, and what it says if not. */
export function endingOf(
  thrown: EntryResult['thrown'],
  elapsedMs: number,
  { limits }: SlotDefinition,
): Pick<EntryResult, 'stopped' | 'uncaught' | 'thrown'> {
  const message = thrown && thrownMessage(thrown.error)
  return message === TIMED_OUT && elapsedMs >= limits.cpuMs
    ? { stopped: 'cpuMs', uncaught: undefined, thrown: undefined }
    : { stopped: undefined, uncaught: message, thrown }
}

/** What is told of an isolate that gives nothing any more. */
export const lost = (
  stopped: 'cpuMs' | 'memoryMb',
  elapsedMs: number,
  current: number = 0,
): EntryResult => ({
  records: [],
  elapsedMs,
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
