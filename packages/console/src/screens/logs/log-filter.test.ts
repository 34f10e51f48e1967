import { expect, test } from 'vitest'

import { type LogLine, jsonLinesOf, logQueryOf, passes } from './log-filter.ts'

const NOW = new Date('2026-11-30T12:00:00.000Z')
const queryOf = (search: string) => logQueryOf(new URLSearchParams(search), NOW)
const line = (logId: string, message: string): LogLine => ({
  logId,
  message,
  at: NOW.toISOString(),
  level: 'info',
  kind: 'console',
  operation: 'order',
  requestId: null,
})

test('asks the service for what the address names, and for nothing else', () => {
  expect(queryOf('level=warn&operation=order&requestId=r1&q=text&function=f&show=r2')).toEqual({
    level: 'warn',
    operation: 'order',
    requestId: 'r1',
  })
  expect(queryOf('level=loud&operation=&since=yesterday')).toEqual({})
})

test('turns a range into its beginning, and leaves its end open', () => {
  expect(queryOf('range=1h&until=2026-11-30T11:00:00Z')).toEqual({
    since: '2026-11-30T11:00:00.000Z',
  })
  expect(queryOf('range=custom&since=2026-11-30T10:00:00Z&until=2026-11-30T11:00:00Z')).toEqual({
    since: '2026-11-30T10:00:00.000Z',
    until: '2026-11-30T11:00:00.000Z',
  })
})

test('searches text in any case, and the operations of a function', () => {
  const order = line('1', 'Order 7 is refused')
  expect(passes(order, { text: 'ORDER 7', operations: undefined })).toBe(true)
  expect(passes(order, { text: 'order 8', operations: undefined })).toBe(false)
  expect(passes(order, { text: '', operations: new Set(['order']) })).toBe(true)
  expect(passes(order, { text: '', operations: new Set(['other']) })).toBe(false)
  expect(passes({ ...order, operation: null }, { text: '', operations: new Set() })).toBe(false)
})

test('exports one line of JSON for each, oldest first', () => {
  const text = jsonLinesOf([line('2', 'newer'), line('1', 'older\nwith a break')])
  expect(text.split('\n')).toHaveLength(3)
  expect(
    text
      .split('\n')
      .slice(0, 2)
      .map((one) => JSON.parse(one).logId),
  ).toEqual(['1', '2'])
})
