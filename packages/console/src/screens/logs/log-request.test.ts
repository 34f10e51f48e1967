import { expect, test } from 'vitest'

import type { LogLine } from './log-filter.ts'
import { messageParts, requestLinesOf } from './log-request.ts'

const line = (logId: string, more: Partial<LogLine> = {}): LogLine => ({
  logId,
  message: 'text',
  at: `2026-11-30T12:00:0${logId}.000Z`,
  level: 'info',
  kind: 'console',
  operation: 'order',
  requestId: 'r1',
  ...more,
})

test('tells a request oldest first, with the operations it called and the error that ended it', () => {
  const failure = line('4', { kind: 'failure', fields: { code: 'ExecutionFailed' } })
  const told = requestLinesOf([failure, line('3'), line('2', { operation: 'stock' }), line('1')])
  expect(told.lines.map(({ logId }) => logId)).toEqual(['1', '2', '3', '4'])
  expect(told).toMatchObject({
    operations: ['order', 'stock'],
    spanMs: 3000,
    failure: 'ExecutionFailed',
  })
  expect(requestLinesOf([])).toMatchObject({ lines: [], spanMs: 0, failure: undefined })
})

test('puts an error after what was printed in the same millisecond', () => {
  const at = '2026-11-30T12:00:00.000Z'
  const told = requestLinesOf([
    line('3', { at }),
    line('2', { at }),
    line('1', { at, kind: 'failure' }),
  ])
  expect(told.lines.map(({ logId }) => logId)).toEqual(['2', '3', '1'])
})

test.each([
  ['at pay (functions/orders.ts:12:7)', ['functions/orders.ts:12:7']],
  ['at a (lib/a.mjs:3) and b.tsx:1:1', ['lib/a.mjs:3', 'b.tsx:1:1']],
  ['notes.txt:3 and 12:00:05', []],
])('finds the places of the source in "%s"', (message, positions) => {
  const parts = messageParts(message)
  expect(parts.filter((part) => part.isPosition).map(({ text }) => text)).toEqual(positions)
  expect(parts.map(({ text }) => text).join('')).toBe(message)
})
