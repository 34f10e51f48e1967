import { entryState } from './performance-entries.ts'
import type { EntryState, PerformanceEntry } from './performance-entries.ts'
import { filter, forEach, push, toSorted } from './primordials.ts'

/** What is kept: a context lives long, and its code may never clear what it marks. The older half goes first. */
const MAX_ENTRIES = 10_000

interface Wanted {
  readonly type?: string | undefined
  readonly name?: string | undefined
}

let entries: PerformanceEntry[] = []
let observers: ((entry: PerformanceEntry, state: EntryState) => void)[] = []

/** Keeps an entry, and tells those that observe. */
export function addEntry(entry: PerformanceEntry): void {
  if (entries.length >= MAX_ENTRIES)
    entries = filter(entries, (_entry, index) => index >= MAX_ENTRIES / 2)
  push(entries, entry)
  const state = entryState(entry)
  if (state !== undefined) forEach(observers, (observe) => observe(entry, state))
}

export function observeEntries(observe: (typeof observers)[number]): () => void {
  push(observers, observe)
  return () => {
    observers = filter(observers, (other) => other !== observe)
  }
}

/** By time, and of the same time in order of arrival. */
export function entriesOf(wanted: Wanted, list: readonly PerformanceEntry[] = entries) {
  return toSorted(filter(list, matching(wanted)), (one, other) => startOf(one) - startOf(other))
}

export function removeEntries(wanted: Wanted): void {
  const isWanted = matching(wanted)
  entries = filter(entries, (entry) => !isWanted(entry))
}

/** When the last mark of that name was; undefined when there is none. */
export function markTime(name: string): number | undefined {
  let found: number | undefined
  const isMark = matching({ type: 'mark', name })
  forEach(entries, (entry) => {
    if (isMark(entry)) found = startOf(entry)
  })
  return found
}

const startOf = (entry: PerformanceEntry): number => entryState(entry)?.startTime ?? 0

const matching =
  ({ type, name }: Wanted) =>
  (entry: PerformanceEntry): boolean => {
    const state = entryState(entry)
    if (state === undefined) return false
    return (
      (type === undefined || state.entryType === type) &&
      (name === undefined || state.name === name)
    )
  }
