import { TO_GUEST } from '#sandbox/protocol/grammars.ts'
import type { ToGuest } from '#sandbox/protocol/protocol.ts'
import { readRecords, RecordHead, RecordWriter } from '#sandbox/protocol/records.ts'

import type { CallRecord } from './open-calls.ts'

/** The calls of a section. Only their numbers are read: the rest is for the isolate. */
export function callIdsIn(section: string): number[] {
  const head = new RecordHead(section)
  const ids: number[] = []
  while (!head.isOver) {
    const { kind, numbers, texts } = TO_GUEST.formOf(head.next())
    const id = head.next()
    for (let left = numbers + texts - 1; left > 0; left -= 1) head.next()
    if (kind === 'call') ids.push(id)
  }
  return ids
}

/** The calls of a section, whole, except for its first records and those from `end` on. */
export const callsIn = (section: string, after = 0, end = Infinity): CallRecord[] =>
  readRecords(section, TO_GUEST)
    .slice(after, end)
    .filter((record) => record.kind === 'call')

/** What is handed to an isolate in one entry. */
export function sectionOf(records: readonly ToGuest[]): string {
  const writer = new RecordWriter(TO_GUEST)
  for (const { kind, numbers, texts } of records) writer.add(kind, numbers, texts)
  return writer.take()
}

/** What one entry works on: so many records, and the call that each belongs to. */
export interface Work {
  readonly count: number
  readonly calls: readonly number[]
  readonly section: string
}

export const workFor = (records: readonly ToGuest[], calls: readonly number[]): Work => ({
  count: records.length,
  calls,
  section: sectionOf(records),
})

export const idOf = (record: CallRecord): number => record.numbers[0]
