import type { FromGuest } from '#sandbox/protocol/protocol.ts'

import type { EntryResult } from './entry-result.ts'
import type { CallRecord } from './open-calls.ts'

/** How often a call is begun again that got too little of a processor to end or to exceed its limit. */
export const MAX_STARVED_TRIES = 3
/** Why calls are interrupted whose isolate is given up. */
export const BROUGHT_DOWN = 'Another call of the same site brought its isolate down: try again'
export const TOO_BUSY = 'The machine was too busy to run it: try again'

const FINAL: ReadonlySet<FromGuest['kind']> = new Set([
  'result',
  'answered',
  'thrown',
  'invalidResult',
  'invalidBody',
  'mismatch',
  'oversized',
  'left',
])

const OF_CALL: ReadonlySet<FromGuest['kind']> = new Set([...FINAL, 'log'])

export interface StarvedEntry {
  /** Calls that were begun in the entry and did not end: nothing of them has left the isolate. */
  readonly again: readonly CallRecord[]
  /** What the entry reported of all others. */
  readonly records: readonly FromGuest[]
}

/** What becomes of an entry that ended without a verdict, by the calls that were begun in it. */
export function splitStarved(
  { records }: Pick<EntryResult, 'records'>,
  begun: readonly CallRecord[],
): StarvedEntry {
  const ended = new Set(
    records.flatMap((record) => (FINAL.has(record.kind) ? [callOf(record)] : [])),
  )
  const again = begun.filter(({ numbers: [id] }) => !ended.has(id))
  const dropped = new Set(again.map(({ numbers: [id] }) => id))
  // What belongs to no call may be of any of them.
  if (dropped.size > 0) dropped.add(0)
  return { again, records: records.filter((record) => !dropped.has(callOf(record) ?? -1)) }
}

/** Undefined for what is of the whole isolate. */
function callOf(record: FromGuest): number | undefined {
  if (record.kind === 'hostCall') return record.numbers[1]
  return OF_CALL.has(record.kind) ? record.numbers[0] : undefined
}
