import { describe, expect, test } from 'vitest'

import { CircuitBreaker } from './circuit-breaker.ts'

const at = (start: number) => {
  let now = start
  return {
    nowMs: () => now,
    pass(ms: number) {
      now += ms
    },
  }
}

describe('a circuit', () => {
  test('lets everyone through while nothing fails', () => {
    const circuit = new CircuitBreaker(1000, at(0).nowMs)
    expect([circuit.allows(), circuit.allows()]).toEqual([true, true])
    expect(circuit.succeeded()).toBe(false)
  })

  test('refuses after a failure, then lets one try per interval', () => {
    const time = at(5000)
    const circuit = new CircuitBreaker(1000, time.nowMs)
    expect(circuit.failed()).toBe(true)
    expect(circuit.allows()).toBe(false)
    time.pass(1000)
    expect([circuit.allows(), circuit.allows()]).toEqual([true, false])
  })

  test('tells the first failure and the end of an outage, once each', () => {
    const circuit = new CircuitBreaker(1000, at(0).nowMs)
    expect([circuit.failed(), circuit.failed()]).toEqual([true, false])
    expect([circuit.succeeded(), circuit.succeeded()]).toEqual([true, false])
    expect(circuit.allows()).toBe(true)
  })
})
