import type { Socket } from 'node:net'

import { describe, expect, test } from 'vitest'

import type { PendingCall } from './pending-call.ts'
import { SiteHistory } from './site-history.ts'
import { SiteQueue } from './site-queue.ts'
import type { HostRole } from './slot-key.ts'
import { type SentFrame, WorkerConnection } from './worker-connection.ts'
import { Workers } from './workers.ts'

function connection(role: HostRole, index = 0): WorkerConnection {
  const socket = { write: () => true } as unknown as Socket
  const events = { acknowledged() {}, withdrawn() {}, record() {}, received() {} }
  return new WorkerConnection(socket, { pid: 1, progressPath: '', place: { role, index } }, events)
}

/** Workers of these kinds, and what was asked for. */
function workersOf(...roles: readonly HostRole[]) {
  return manyWorkersOf(1, roles)
}

function manyWorkersOf(ordinaryHosts: number, roles: readonly HostRole[]) {
  const asked: HostRole[] = []
  const workers = new Workers({ ordinaryHosts, needed: (role) => asked.push(role) })
  const all = Object.fromEntries(roles.map((role) => [role, connection(role)]))
  for (const worker of Object.values(all)) workers.add(worker)
  return { workers, all, asked }
}

const site = (teach: (history: SiteHistory) => void = () => {}, key = 'site'): SiteQueue => {
  const history = new SiteHistory()
  teach(history)
  return new SiteQueue(key, history, 0)
}
const stuck = (worker: WorkerConnection | undefined) => worker?.send([], { nowMs: 0, risky: true })
/** Sent at 0, with one call of that site. */
const frameOf = (queueKey: string): SentFrame => ({
  seq: 1,
  sentMs: 0,
  cpuMs: 50,
  risky: false,
  isWithdrawn: false,
  sections: [{ index: 0, slot: 1, calls: [{ queueKey } as PendingCall] }],
})
const cost = (costMs: number) => (history: SiteHistory) =>
  history.measured(costMs, { cold: false, nowMs: 0 })

const LATER = 1000
const CALL = {
  id: 1,
  queueKey: 'site',
  call: { depth: 0, operation: 'work', requestId: 'r', body: '{}' },
  program: { key: 'program', functions: new Map(), limits: { concurrency: 10 } },
  definition: { functionId: 'work' },
} as unknown as PendingCall

describe('while there is only the ordinary worker a call', () => {
  const idle = () => workersOf('ordinary')
  const busy = (worker: WorkerConnection | undefined) => worker?.activeCalls.set(1, {} as never)

  test('of a site that takes a little longer is given to it when it is idle, and asks for no other', () => {
    const { workers, all, asked } = idle()
    expect(workers.for(site(cost(20)), LATER)).toBe(all['ordinary'])
    expect(asked).toEqual([])
  })

  test('of such a site waits for one apart when it is busy', () => {
    const { workers, all, asked } = idle()
    busy(all['ordinary'])
    expect(workers.for(site(cost(20)), LATER)).toBeUndefined()
    expect(asked).toEqual(['apart'])
  })

  test('that is tried out waits for one apart', () => {
    const { workers, asked } = idle()
    const tried = site()
    tried.push({ ...CALL, purpose: 'compute' })
    expect(workers.for(tried, LATER)).toBeUndefined()
    expect(asked).toEqual(['apart'])
  })

  test('of known cost asks for a spare when it is stuck, one of unknown cost for one apart', () => {
    const { workers, all, asked } = idle()
    stuck(all['ordinary'])
    workers.for(site(cost(1)), LATER)
    expect(asked).toEqual(['spare'])
    expect(workers.for(site(), LATER)).toBeUndefined()
    expect(asked).toEqual(['spare', 'apart'])
  })
})

test('the sites of ordinary workers that do not run go to those that do', () => {
  const one = manyWorkersOf(3, ['ordinary'])
  const sites = Array.from({ length: 30 }, (_, at) => site(cost(1), `site-${at}`))
  for (const each of sites) expect(one.workers.for(each, LATER)).toBe(one.all['ordinary'])
  const second = connection('ordinary', 1)
  one.workers.add(second)
  const moved = sites.filter((each) => one.workers.for(each, LATER) === second)
  expect(moved.length).toBeGreaterThan(5)
  expect(moved.length).toBeLessThan(25)
  expect(one.asked).toEqual([])
})

describe('a call is given', () => {
  test('to the ordinary worker, to the spare while that is stuck, then to the idle one apart', () => {
    const { workers, all } = workersOf('ordinary', 'apart', 'spare')
    const known = site(cost(1))
    expect(workers.for(known, LATER)).toBe(all['ordinary'])
    stuck(all['ordinary'])
    expect(workers.for(known, LATER)).toBe(all['spare'])
    stuck(all['spare'])
    expect(workers.for(known, LATER)).toBe(all['apart'])
    all['apart']?.activeCalls.set(1, {} as never)
    expect(workers.for(known, LATER)).toBe(all['ordinary'])
  })

  test('for a moment to no worker that would have to load it first', () => {
    const { workers, all } = workersOf('ordinary', 'spare')
    const known = site(cost(1))
    known.push(CALL)
    stuck(all['ordinary'])
    expect(workers.for(known, 5)).toBe(all['ordinary'])
    expect(workers.for(known, 6)).toBeUndefined()
    expect(workers.for(known, 16)).toBe(all['spare'])
    all['spare']?.send([CALL], { nowMs: 0, risky: false })
    all['spare']?.unacked.splice(0)
    expect(workers.for(known, 6)).toBe(all['spare'])
  })

  test('of unknown cost not to the last worker that is not stuck', () => {
    const { workers, all } = workersOf('ordinary', 'apart', 'spare')
    expect(workers.for(site(), LATER)).toBe(all['ordinary'])
    stuck(all['ordinary'])
    expect(workers.for(site(), LATER)).toBe(all['apart'])
    all['apart']?.activeCalls.set(1, {} as never)
    expect(workers.for(site(), LATER)).toBeUndefined()
  })

  test('of a site that keeps a worker busy to no second one', () => {
    const { workers, all } = workersOf('ordinary', 'apart', 'spare')
    all['ordinary']?.unacked.push(frameOf('busy'))
    expect(workers.for(site(cost(1), 'busy'), LATER)).toBeUndefined()
    expect(workers.for(site(cost(1), 'other'), LATER)).toBe(all['spare'])
    expect(workers.for(site(cost(1), 'busy'), 5)).toBe(all['ordinary'])
  })

  test('of a site whose own worker is gone to the spare', () => {
    const { workers, all } = workersOf('apart', 'spare')
    expect(workers.for(site(), LATER)).toBe(all['spare'])
  })

  test('of a site that takes a little longer to the worker apart, and to no other', () => {
    const { workers, all } = workersOf('ordinary', 'apart', 'spare')
    expect(workers.for(site(cost(20)), LATER)).toBe(all['apart'])
    stuck(all['apart'])
    expect(workers.for(site(cost(20)), LATER)).toBe(all['apart'])
    const without = workersOf('ordinary', 'spare')
    expect(without.workers.for(site(cost(20)), LATER)).toBeUndefined()
  })

  test.each([
    ['long', cost(900)],
    ['quarantine', (history: SiteHistory) => history.quarantine(0)],
  ] as const)('of a site for "%s" to its own kind, which it waits for', (role, teach) => {
    const { workers, asked } = workersOf('ordinary', 'apart', 'spare')
    const waiting = site(teach)
    expect(workers.for(waiting, LATER)).toBeUndefined()
    expect(asked).toEqual([role])
    const own = connection(role)
    workers.add(own)
    expect(workers.for(waiting, LATER)).toBe(own)
  })

  test('of a site in quarantine to no worker while it is held', () => {
    const { workers } = workersOf('ordinary', 'quarantine')
    const waiting = site((history) => history.quarantine(LATER))
    expect(workers.for(waiting, LATER + 249)).toBeUndefined()
    expect(workers.for(waiting, LATER + 250)).toBeDefined()
  })

  test('to the worker that another place was given to', () => {
    const { workers, all } = workersOf('spare')
    const spare = all['spare']
    if (spare) spare.place = { role: 'ordinary', index: 0 }
    expect(workers.for(site(), LATER)).toBe(spare)
  })
})
