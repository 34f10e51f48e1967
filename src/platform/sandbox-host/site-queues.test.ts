import { describe, expect, test } from 'vitest'

import type { PendingCall } from './pending-call.ts'
import type { CallOutcome, SiteLimits } from './sandbox.ts'
import { SiteQueues } from './site-queues.ts'
import { pendingCall, programOf } from './testing/pending-call.ts'

const LIMITS: SiteLimits = {
  concurrency: 2,
  suspendedCalls: 0,
  openStreams: 1,
  queueLength: 3,
  queueMs: 100,
  cpuMs: 50,
  resultBytes: 100,
  logLineLength: 100,
  logLines: 10,
}

let lastId = 0

const pending = (
  site: string,
  outcomes: CallOutcome[] = [],
  part: Parameters<typeof pendingCall>[1] = {},
): PendingCall =>
  pendingCall((lastId += 1), {
    program: programOf(site, LIMITS),
    queuedMs: 1000,
    settle: (outcome) => outcomes.push(outcome),
    ...part,
  })

/** Takes the next call of the site whose turn it is and charges what it cost. */
function serve(queues: SiteQueues, cpuMs: number): string | undefined {
  const [site] = queues.inOrder(100)
  const call = site && queues.take(site)
  if (!site || !call) return undefined
  queues.finished(call, { cpuUs: cpuMs * 1000, ok: true, nowMs: 1000 })
  return site.key
}

describe('the queues of the sites', () => {
  test('give each site the same time, not the same number of calls', () => {
    const queues = new SiteQueues()
    const served: string[] = []
    for (let turn = 0; turn < 400; turn += 1) {
      for (const site of ['cheap', 'dear']) {
        if (!queues.inOrder(100).some(({ key }) => key === site)) queues.push(pending(site))
      }
      const key = serve(queues, queues.inOrder(100)[0]?.key === 'dear' ? 10 : 1)
      if (key !== undefined) served.push(key)
    }
    const dear = served.slice(100).filter((key) => key === 'dear').length
    expect(dear).toBeGreaterThan(15)
    expect(dear).toBeLessThan(45)
  })

  test('do not let a site save up the time that it did not use', () => {
    const queues = new SiteQueues()
    for (let turn = 0; turn < 50; turn += 1) {
      queues.push(pending('busy'))
      serve(queues, 10)
    }
    const order: (string | undefined)[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      queues.push(pending('late'))
      queues.push(pending('busy'))
    }
    for (let turn = 0; turn < 6; turn += 1) order.push(serve(queues, 10))
    expect(order.slice(0, 4)).toContain('busy')
  })

  test('refuse what is over their length, and say how long they are', () => {
    const queues = new SiteQueues()
    const outcomes: CallOutcome[] = []
    // Two of them will find a place and do not count.
    for (let call = 0; call < 7; call += 1) queues.push(pending('one', outcomes))
    expect(outcomes).toHaveLength(2)
    expect(outcomes[0]).toMatchObject({ failure: { what: 'queueLength', limit: 3, used: 3 } })
    expect(queues.waiting).toBe(5)
  })

  test('refuse bodies that are too long together, and take as many when those have gone', () => {
    const queues = new SiteQueues()
    const outcomes: CallOutcome[] = []
    const long = () => queues.push(pending('one', outcomes, { call: { body } }))
    const take = () => {
      const [site] = queues.inOrder(100)
      return site && queues.take(site)
    }
    const body = 'x'.repeat(24 * 1024 * 1024)
    for (let call = 0; call < 4; call += 1) long()
    const refused = { kind: 'limit', what: 'queueCharacters', limit: 64 * 1024 * 1024 }
    expect(outcomes).toMatchObject([{ failure: refused }, { failure: refused }])
    const taken = [take(), take()]
    expect(taken).not.toContain(undefined)
    for (let call = 0; call < 3; call += 1) long()
    expect([outcomes.length, queues.waiting]).toEqual([3, 2])
    if (taken[0]) queues.putBack(taken[0])
    expect(take()).toBe(taken[0])
    queues.sweep(Number.POSITIVE_INFINITY)
    for (let call = 0; call < 3; call += 1) long()
    expect([outcomes.length, queues.waiting]).toEqual([6, 2])
  })

  test('hold back a site that has as many calls inside as it may', () => {
    const queues = new SiteQueues()
    for (let call = 0; call < 3; call += 1) queues.push(pending('one'))
    for (let call = 0; call < 2; call += 1) {
      const [site] = queues.inOrder(100)
      if (site) queues.take(site)
    }
    expect(queues.inOrder(100)).toEqual([])
    expect(queues.running).toBe(2)
  })

  test('let one site have at most half of the places while another waits', () => {
    const queues = new SiteQueues()
    queues.push(pending('one'))
    queues.push(pending('one'))
    const [one] = queues.inOrder(2)
    if (one) queues.take(one)
    expect(queues.inOrder(2).map(({ key }) => key)).toEqual(['one'])
    queues.push(pending('two'))
    expect(queues.inOrder(2).map(({ key }) => key)).toEqual(['two'])
  })

  test('give up what has waited too long', () => {
    const queues = new SiteQueues()
    const outcomes: CallOutcome[] = []
    queues.push(pending('one', outcomes))
    queues.sweep(1099)
    expect(outcomes).toEqual([])
    queues.sweep(1100)
    expect(outcomes).toMatchObject([{ failure: { what: 'queueMs', limit: 100, used: 100 } }])
    expect(queues.waiting).toBe(0)
  })

  test('put back a call that was never begun before the ones behind it', () => {
    const queues = new SiteQueues()
    const [first, second] = [pending('one'), pending('one')]
    queues.push(first)
    queues.push(second)
    const [site] = queues.inOrder(100)
    if (site) queues.take(site)
    queues.putBack(first)
    expect(queues.running).toBe(0)
    const [again] = queues.inOrder(100)
    expect(again && queues.take(again)).toBe(first)
  })

  test('trust a program after a few calls, until it brings a host down', () => {
    const queues = new SiteQueues()
    const next = pending('one')
    for (let call = 0; call < 8; call += 1) {
      queues.push(pending('one', [], { program: next.program }))
      serve(queues, 1)
    }
    queues.push(next)
    const [site] = queues.inOrder(100)
    expect(site && queues.isRisky(site, next, 1000)).toBe(false)
    queues.quarantine(next, 1000)
    expect(site && queues.isRisky(site, next, 1001)).toBe(true)
  })

  test('remember nothing of a program that is gone, whenever its last calls end', () => {
    const queues = new SiteQueues()
    const { program } = pending('one')
    for (let call = 0; call < 8; call += 1) {
      queues.push(pending('one', [], { program }))
      serve(queues, 1)
    }
    // The same revision, read again after it had been retired.
    const again = pending('one')
    expect(again.program.key).toBe(program.key)
    queues.push(again)
    const [site] = queues.inOrder(100)
    expect(site && queues.isRisky(site, again, 1000)).toBe(true)
  })

  test('lends a place whose call waits for another of its own, deepest first, and not to what comes fresh', () => {
    const queues = new SiteQueues()
    const take = () => {
      const [site] = queues.inOrder(100)
      return site && queues.take(site)
    }
    const [one, two, fresh] = [pending('one'), pending('one'), pending('one')]
    for (const call of [one, two, fresh]) queues.push(call)
    expect([take(), take(), take()]).toEqual([one, two, undefined])
    queues.releasePermit(one)
    queues.releasePermit(one)
    queues.suspend(one)
    expect(take()).toBeUndefined()
    const child = pending('one', [], { call: { depth: 1 } })
    const sibling = pending('one', [], { call: { depth: 1 } })
    const grandchild = pending('one', [], { call: { depth: 2 } })
    for (const call of [child, sibling]) queues.push(call)
    expect(take()).toBe(child)
    // One place was lent, however many wait for it.
    expect(take()).toBeUndefined()
    queues.releasePermit(child)
    queues.suspend(child)
    queues.push(grandchild)
    expect(take()).toBe(grandchild)
    const end = { cpuUs: 0, ok: true, nowMs: 1000 }
    queues.finished(grandchild, end)
    queues.reacquirePermit(child)
    queues.finished(child, end)
    queues.reacquirePermit(one)
    expect(take()).toBe(sibling)
    queues.finished(sibling, end)
    queues.reacquirePermit(one)
    expect(take()).toBeUndefined()
    queues.finished(one, end)
    expect(take()).toBe(fresh)
  })

  test('give a place to the next call while another waits, as long as so many may be suspended', () => {
    const queues = new SiteQueues()
    const program = programOf('one', { ...LIMITS, concurrency: 1, suspendedCalls: 2 })
    const take = () => {
      const [site] = queues.inOrder(100)
      return site && queues.take(site)
    }
    const calls = Array.from({ length: 4 }, () => pending('one', [], { program }))
    for (const call of calls) queues.push(call)
    const [first, second, third, fourth] = calls as [
      PendingCall,
      PendingCall,
      PendingCall,
      PendingCall,
    ]
    expect([take(), take()]).toEqual([first, undefined])
    queues.suspend(first)
    expect([take(), take()]).toEqual([second, undefined])
    queues.suspend(second)
    expect([take(), take()]).toEqual([third, undefined])
    queues.suspend(third)
    expect(take()).toBeUndefined()
    expect(queues.callsOf('one')).toEqual({ running: 0, suspended: 3, queued: 1 })
    // What waits for its client is bounded elsewhere.
    queues.setApart(first)
    expect(take()).toBe(fourth)
    const end = { cpuUs: 0, ok: true, nowMs: 1000 }
    for (const call of calls) queues.finished(call, end)
    expect(queues.callsOf('one')).toEqual({ running: 0, suspended: 0, queued: 0 })
  })

  test('let few calls of a site go on without their clients, and not for long', () => {
    const queues = new SiteQueues()
    const program = programOf('one', { ...LIMITS, concurrency: 100, queueLength: 100 })
    const calls = Array.from({ length: 66 }, () => pending('one', [], { program }))
    const evicted = calls.map((call) => {
      queues.push(call)
      const [site] = queues.inOrder(1000)
      if (site) queues.take(site)
      queues.suspend(call)
      return queues.leave(call, 1000)
    })
    expect(evicted.slice(0, 64).every((one) => one === undefined)).toBe(true)
    expect(evicted.slice(64)).toEqual([calls[0], calls[0]])
    expect(queues.overdue(11_000)).toEqual([])
    expect(queues.overdue(11_001)).toHaveLength(66)
    for (const call of calls) queues.finished(call, { cpuUs: 0, ok: true, nowMs: 1000 })
    expect([queues.left, queues.running, queues.suspended]).toEqual([0, 0, 0])
  })

  test('serves calls from outside in turns with those that a call has set off', () => {
    const queues = new SiteQueues()
    const turn = () => {
      const [site] = queues.inOrder(100)
      const call = site && queues.take(site)
      if (call) queues.finished(call, { cpuUs: 0, ok: true, nowMs: 1000 })
      return call?.call.depth
    }
    for (const depth of [1, 2, 1, 2, 0, 0]) queues.push(pending('one', [], { call: { depth } }))
    expect(Array.from({ length: 7 }, turn)).toEqual([0, 2, 0, 2, 1, 1, undefined])
  })

  test('bounds the calls that wait at each depth', () => {
    const queues = new SiteQueues()
    const outcomes: CallOutcome[] = []
    for (let call = 0; call < 6; call += 1) {
      queues.push(pending('one', outcomes))
      queues.push(pending('one', outcomes, { call: { depth: 1 } }))
    }
    expect(queues.waiting).toBe(10)
    expect(outcomes).toMatchObject([1, 2].map(() => ({ failure: { what: 'queueLength' } })))
  })

  test('forgets a call without a waiting caller', () => {
    const queues = new SiteQueues()
    const outcomes: CallOutcome[] = []
    const call = pending('one', outcomes, { call: { depth: 1 } })
    queues.push(call)
    queues.drop(call)
    expect(outcomes).toMatchObject([{ failure: { kind: 'interrupted' } }])
    expect([queues.waiting, queues.running]).toEqual([0, 0])
  })
})
