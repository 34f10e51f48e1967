import { expect, test } from 'vitest'

import type { FromGuest } from '#sandbox/protocol/protocol.ts'

import type { CallRecord } from './open-calls.ts'
import { splitStarved } from './starved-entry.ts'

const call = (id: number): CallRecord => ({
  kind: 'call',
  numbers: [id, 0],
  texts: ['op', 'r', 'null', '{}'],
})
const records: readonly FromGuest[] = [
  { kind: 'state', numbers: [2, 8], texts: [] },
  { kind: 'log', numbers: [7, 1], texts: ['of the one that ended'] },
  { kind: 'result', numbers: [7], texts: ['1'] },
  { kind: 'log', numbers: [8, 1], texts: ['of the one that did not'] },
  { kind: 'hostCall', numbers: [1, 8], texts: ['fetch', '{}'] },
  { kind: 'hostCall', numbers: [2, 0], texts: ['fetch', '{}'] },
  { kind: 'hostCall', numbers: [3, 5], texts: ['fetch', '{}'] },
  { kind: 'result', numbers: [5], texts: ['2'] },
]

test('calls that began in a starved entry begin again, and nothing of them is reported', () => {
  const split = splitStarved({ records }, [call(7), call(8)])
  expect(split.again).toEqual([call(8)])
  expect(split.records).toEqual([records[0], records[1], records[2], records[6], records[7]])
})

test('an entry in which no call began reports everything', () => {
  expect(splitStarved({ records }, [])).toEqual({ again: [], records })
})

test('calls of an entry that says nothing begin again, all of them', () => {
  expect(splitStarved({ records: [] }, [call(7), call(8)]).again).toEqual([call(7), call(8)])
})
