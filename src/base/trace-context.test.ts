import { describe, expect, test } from 'vitest'

import { parseTraceContext, traceHeaders } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('a trace context', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    // A later version may say more.
    [`cc-${TRACE}-${SPAN}-01-what-else`, true],
  ])('is read from %s', (header, isSampled) => {
    const context = { traceId: TRACE, spanId: SPAN, isSampled, state: 'a=1,b@c=2' }
    expect(parseTraceContext(header, 'a=1,b@c=2')).toEqual(context)
  })

  test.each([
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}1-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0g`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`,
  ])('is none in "%s"', (header) => {
    expect(parseTraceContext(header, 'a=1')).toBeUndefined()
  })

  test.each([null, '', 'é=1', 'a=\n', 'x'.repeat(513)])('comes without the state "%s"', (state) => {
    expect(parseTraceContext(`00-${TRACE}-${SPAN}-01`, state)?.state).toBeUndefined()
  })

  test('is written as it was read', () => {
    const header = `00-${TRACE}-${SPAN}-01`
    const context = parseTraceContext(header, 'a=1')
    expect(context && traceHeaders(context)).toEqual([
      ['traceparent', header],
      ['tracestate', 'a=1'],
    ])
    const bare = parseTraceContext(`00-${TRACE}-${SPAN}-02`, null)
    expect(bare && traceHeaders(bare)).toEqual([['traceparent', `00-${TRACE}-${SPAN}-00`]])
  })
})
