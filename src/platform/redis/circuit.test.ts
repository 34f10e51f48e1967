import { describe, expect, test } from 'vitest'

import { Circuit } from './circuit.ts'

const at = (start: number) => {
  let now = start
  return {
    clock: { now: () => new Date(now) },
    pass(ms: number) {
      now += ms
    },
  }
}

describe('a circuit', () => {
  test('lets everyone through while nothing fails', () => {
    const circuit = new Circuit(at(0).clock, 1000)
    expect([circuit.enter(), circuit.enter()]).toEqual([true, true])
    expect(circuit.succeeded()).toBe(false)
  })

  test('refuses after a failure, then lets one try per interval', () => {
    const time = at(5000)
    const circuit = new Circuit(time.clock, 1000)
    expect(circuit.failed()).toBe(true)
    expect(circuit.enter()).toBe(false)
    time.pass(1000)
    expect([circuit.enter(), circuit.enter()]).toEqual([true, false])
  })

  test('tells the first failure and the end of an outage, once each', () => {
    const circuit = new Circuit(at(0).clock, 1000)
    expect([circuit.failed(), circuit.failed()]).toEqual([true, false])
    expect([circuit.succeeded(), circuit.succeeded()]).toEqual([true, false])
    expect(circuit.enter()).toBe(true)
  })
})
