import { beforeEach, expect, test } from 'vitest'

import { HostDemand } from './host-demand.ts'

let needed: string[]
let use: { hosts: number; cpuMs: number }
beforeEach(() => {
  needed = []
  use = { hosts: 1, cpuMs: 0 }
})

const demandOf = (ordinaryHosts: number) =>
  new HostDemand({
    ordinaryHosts,
    needed: (role, index) => needed.push(`${role} ${index}`),
    ordinary: () => ({ ...use }),
  })

test('a call now and then asks for nothing', () => {
  const demand = demandOf(1)
  for (let second = 0; second < 600; second += 2) demand.called(second * 1000)
  expect(needed).toEqual([])
})

test('ten calls within ten seconds ask for a spare, once in that time', () => {
  const demand = demandOf(1)
  for (let call = 1; call < 10; call += 1) demand.called(call)
  expect(needed).toEqual([])
  for (let call = 10; call <= 1000; call += 1) demand.called(call)
  expect(needed).toEqual(['spare 0'])
  for (let call = 1; call <= 10; call += 1) demand.called(11_000 + call)
  expect(needed).toEqual(['spare 0', 'spare 0'])
})

/** A call each second, and what the ordinary hosts computed in it. */
function second(demand: HostDemand, at: number, cpuMs: number): string[] {
  needed = []
  use.cpuMs += cpuMs
  demand.called(at * 1000)
  return needed.filter((each) => !each.startsWith('spare'))
}

test('an ordinary host that is full asks for the next one, as many as there may be', () => {
  const demand = demandOf(3)
  second(demand, 0, 0)
  expect(second(demand, 1, 600)).toEqual([])
  expect(second(demand, 2, 900)).toEqual(['ordinary 1'])
  use = { hosts: 2, cpuMs: 1500 }
  // The first look at both only notes what they have computed.
  expect(second(demand, 3, 1900)).toEqual([])
  expect(second(demand, 4, 1900)).toEqual(['ordinary 1', 'ordinary 2'])
  use = { hosts: 3, cpuMs: 5000 }
  second(demand, 5, 0)
  expect(second(demand, 6, 2900)).toEqual(['ordinary 1', 'ordinary 2'])
})

test('one that is worth its memory is asked for again, one that is not is left to end', () => {
  const demand = demandOf(3)
  use.hosts = 2
  second(demand, 0, 0)
  expect(second(demand, 1, 500)).toEqual(['ordinary 1'])
  expect(second(demand, 2, 300)).toEqual([])
})
