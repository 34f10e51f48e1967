import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import type { Measured } from './measured.ts'
import { optionsOf } from './options.ts'
import { renewedPage, runsOn } from './page.ts'
import { Popularity } from './popularity.ts'
import { type Plan, simulate } from './simulation.ts'

const MEASURED: Measured = {
  serviceMb: 100,
  idleHostMb: 50,
  otherHosts: 2,
  knownSiteMb: 0.01,
  warmSiteMb: 3,
  warmCallCpuMs: 0.2,
  coldCallCpuMs: 20,
  transactionsPerRead: 3,
  connections: 20,
  knownSites: 1000,
}
const PLAN: Plan = {
  sites: 100,
  replicas: 4,
  routing: 'any',
  hosts: 2,
  warmIsolates: 1000,
  callsPerSecond: 1000,
  publishesPerSecond: 5,
  exponent: 1,
  calls: 50_000,
  seed: 1,
}

describe('popularity', () => {
  test('without an exponent is the same for all', () => {
    const same = new Popularity(4, 0)
    expect([0, 0.24, 0.25, 0.5, 0.99, 1].map((at) => same.draw(at))).toEqual([0, 0, 1, 2, 3, 3])
  })

  test('with one halves from the first site to the second', () => {
    const zipf = new Popularity(2, 1)
    expect([0.66, 0.67].map((at) => zipf.draw(at))).toEqual([0, 1])
  })
})

describe('sites', () => {
  test('that all fit are warm everywhere, and no call is cold', () => {
    expect(simulate(PLAN, MEASURED)).toEqual({
      knownSites: 100,
      warmSites: 100,
      memoryMb: 100 + 50 * 4 + 100 * 0.01 + 100 * 3,
      coldShare: 0,
      readShare: 0,
      coldPerSecond: 0,
      transactionsPerSecond: 0,
      cores: 0.2,
      notificationsPerSecond: 20,
      heededShare: 1,
      connections: 80,
    })
  })

  test('that come to one replica each are in the memory of that one alone', () => {
    const { knownSites, warmSites, heededShare, coldShare } = simulate(
      { ...PLAN, routing: 'by-host' },
      MEASURED,
    )
    expect(knownSites).toBe(warmSites)
    expect(knownSites).toBeGreaterThanOrEqual(25)
    expect(knownSites).toBeLessThan(50)
    expect({ heededShare, coldShare }).toEqual({ heededShare: 0.25, coldShare: 0 })
  })

  test('that do not fit are cold as often as their share, and cost what cold calls cost', () => {
    const plan = { ...PLAN, replicas: 1, hosts: 1, warmIsolates: 50, exponent: 0, calls: 200_000 }
    const { warmSites, coldShare, cores } = simulate(plan, MEASURED)
    expect(warmSites).toBe(50)
    expect(coldShare).toBeCloseTo(0.5, 1)
    expect(cores).toBeCloseTo(1000 * (coldShare * 0.02 + (1 - coldShare) * 0.0002), 6)
  })

  test('that a replica has forgotten are read', () => {
    const plan = { ...PLAN, replicas: 1, exponent: 0, calls: 200_000 }
    const { readShare, transactionsPerSecond } = simulate(plan, { ...MEASURED, knownSites: 75 })
    expect(readShare).toBeCloseTo(0.25, 1)
    expect(transactionsPerSecond).toBeCloseTo(readShare * 1000 * 3, 6)
  })

  test('are placed in the same way again', () => {
    expect(simulate(PLAN, MEASURED)).toEqual(simulate(PLAN, MEASURED))
  })
})

describe('the options', () => {
  test('give a plan for each routing and number of replicas', () => {
    const { plans } = optionsOf(['--replicas', '2,4', '--sites', '500'])
    expect(plans.map(({ routing, replicas }) => [routing, replicas])).toEqual([
      ['any', 2],
      ['any', 4],
      ['by-host', 2],
      ['by-host', 4],
    ])
    expect(plans[0]).toMatchObject({ sites: 500, hosts: 2, warmIsolates: 409 })
  })

  test.each([
    [['--sites', 'many'], '--sites is a number above 0'],
    [['--replicas', '3,0'], '--replicas is a number above 0'],
    [['--routing', 'random'], '--routing is any, by-host or both'],
    [['--what'], '--what'],
  ])('refuse %o', (args, words) => {
    expect(() => optionsOf(args)).toThrow(words)
  })
})

test('the page shows what the simulator prints', { timeout: 300_000 }, async () => {
  const page = await readFile(new URL('../../docs/explanation/scale.md', import.meta.url), 'utf8')
  expect(runsOn(page)).toBeGreaterThan(1)
  expect(renewedPage(page)).toBe(page)
})
