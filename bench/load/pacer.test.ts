import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { closedLoop, openLoop } from './pacer.ts'

const window = fc.record({
  startMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
  lengthMs: fc.integer({ min: 1, max: 2000 }),
})

describe('the open loop', () => {
  test('means requests at even distances, whenever it is asked', () => {
    const steps = fc.array(fc.double({ min: 0, max: 50, noNaN: true }), { maxLength: 60 })
    fc.assert(
      fc.property(window, fc.integer({ min: 1, max: 5000 }), steps, (span, rate, waits) => {
        const pacer = openLoop(span, rate)
        const intended: number[] = []
        let nowMs = span.startMs
        for (const wait of waits) {
          nowMs += wait
          for (let at = pacer.take(nowMs); at !== undefined; at = pacer.take(nowMs)) {
            expect(at).toBeLessThanOrEqual(nowMs)
            intended.push(at)
          }
          expect(pacer.overdue(nowMs)).toBe(0)
          expect(pacer.nextDueMs() ?? Number.POSITIVE_INFINITY).toBeGreaterThan(nowMs)
        }
        for (const [index, at] of intended.entries()) {
          expect(at).toBeCloseTo(span.startMs + (index * 1000) / rate, 6)
          expect(at).toBeLessThan(span.startMs + span.lengthMs + 1e-6)
        }
      }),
    )
  })

  test('has none overdue whose time is a rounding away', () => {
    const pacer = openLoop({ startMs: 0, lengthMs: 51 }, 2700)
    const nowMs = 49.99999999999999
    while (pacer.take(nowMs) !== undefined);
    expect(pacer.nextDueMs()).toBeGreaterThan(nowMs)
    expect(pacer.overdue(nowMs)).toBe(0)
  })

  test('sends exactly rate × time, also when asked only at the end', () => {
    fc.assert(
      fc.property(window, fc.integer({ min: 1, max: 5000 }), (span, rate) => {
        const pacer = openLoop(span, rate)
        const afterMs = span.startMs + span.lengthMs + 1000
        const owed = pacer.overdue(afterMs)
        let sent = 0
        while (pacer.take(afterMs) !== undefined) sent += 1
        expect(sent).toBe(Math.ceil((span.lengthMs * rate) / 1000))
        expect(owed).toBe(sent)
        expect(pacer.nextDueMs()).toBeUndefined()
      }),
    )
  })

  test('keeps the intended time of a request that had to wait', () => {
    const pacer = openLoop({ startMs: 0, lengthMs: 1000 }, 10)
    expect([pacer.take(350), pacer.take(350), pacer.take(350)]).toEqual([0, 100, 200])
    expect(pacer.overdue(350)).toBe(1)
  })
})

describe('the closed loop', () => {
  test('is due at once until the end', () => {
    const pacer = closedLoop({ startMs: 10, lengthMs: 10 })
    expect([pacer.take(9), pacer.take(10), pacer.take(19.9), pacer.take(20)]).toEqual([
      undefined,
      10,
      19.9,
      undefined,
    ])
    expect([pacer.nextDueMs(), pacer.overdue(15)]).toEqual([undefined, 0])
  })
})
