import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { FROM_WORKER, TO_GUEST } from './grammars.ts'
import type { ToGuest } from './protocol.ts'
import { readRecords, RecordWriter } from './records.ts'

const text = fc.string({ unit: 'binary', maxLength: 40 })
const id = fc.nat()
const record: fc.Arbitrary<ToGuest> = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    numbers: fc.tuple(id, id),
    texts: fc.tuple(text, text, text, text),
  }),
  fc.record({
    kind: fc.constant('answer' as const),
    numbers: fc.tuple(id, id),
    texts: fc.tuple(text),
  }),
  fc.record({
    kind: fc.constant('cancel' as const),
    numbers: fc.tuple(id),
    texts: fc.constant<[]>([]),
  }),
)

const write = (records: readonly ToGuest[]): string => {
  const writer = new RecordWriter(TO_GUEST)
  for (const { kind, numbers, texts } of records) writer.add(kind, numbers, texts)
  return writer.take()
}

function readOrRefuse(message: string): ToGuest[] {
  try {
    return readRecords(message, TO_GUEST)
  } catch {
    return []
  }
}

describe('records', () => {
  test('come back as they were written, whatever is in their texts', () => {
    fc.assert(
      fc.property(fc.array(record), (records) => {
        expect(readRecords(write(records), TO_GUEST)).toEqual(records)
      }),
    )
  })

  test('that were tampered with are refused or are still records, never anything else', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1 }), fc.nat(), fc.string(), (records, at, bad) => {
        const whole = write(records)
        const cut = at % whole.length
        for (const { kind } of readOrRefuse(whole.slice(0, cut) + bad + whole.slice(cut + 1))) {
          expect(TO_GUEST.kinds).toHaveProperty(kind)
        }
      }),
    )
  })

  test.each([
    ['no head', '', 'has no head line'],
    ['a head that is not numbers', '68,"1"\n', 'head of a message is malformed'],
    ['a nested head', '[68],1\n', 'head of a message is malformed'],
    ['an unknown kind', '33,1\n', 'unknown kind "!"'],
    ['a kind that objects have', '95,1\n', 'unknown kind "_"'],
    ['too few numbers', '67,1\n', 'head of a message is malformed'],
    ['a negative number', '68,-1\n', 'head of a message is malformed'],
    ['a number with a zero before it', '68,01\n', 'head of a message is malformed'],
    ['a number that no double holds', '68,9007199254740993\n', 'head of a message is malformed'],
    ['a comma at its end', '68,1,\n', 'head of a message is malformed'],
    ['nothing between two commas', '68,,1\n', 'head of a message is malformed'],
    ['a fraction', '68,1.5\n', 'head of a message is malformed'],
    ['a length that lies', '65,1,1,9\nabc', 'do not add up'],
    ['text that belongs to nothing', '68,1\nabc', 'do not add up'],
  ])('with %s are refused', (_what, message, reason) => {
    expect(() => readRecords(message, TO_GUEST)).toThrow(reason)
  })

  test('of two writes do not mix', () => {
    const writer = new RecordWriter(FROM_WORKER)
    writer.add('result', [1, 2], ['one'])
    expect(readRecords(writer.take(), FROM_WORKER)).toHaveLength(1)
    expect(writer.empty).toBe(true)
    writer.add('acknowledge', [3], [])
    expect(readRecords(writer.take(), FROM_WORKER)).toEqual([
      { kind: 'acknowledge', numbers: [3], texts: [] },
    ])
  })
})
