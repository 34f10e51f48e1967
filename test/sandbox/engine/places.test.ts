import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import type { Call } from '#platform/sandbox-host/call.ts'
import type { Program } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())
beforeEach(() => {
  sandbox.events.answer = async () => 'null'
})

const INTERRUPTED = { ok: false, failure: { kind: 'interrupted' } }

const callOf = (program: Program, payload: unknown, part: Partial<Call> = {}): Call => ({
  site: { siteId: program.siteId, domain: program.siteDomain },
  operation: 'op',
  requestId: String(payload),
  authority: null,
  depth: 0,
  body: JSON.stringify({ payload }),
  ...part,
})

/** A call of a visitor who can leave. */
function visit(program: Program, payload: unknown = null) {
  const visitor = new AbortController()
  const call = callOf(program, payload, { visitorSignal: () => visitor.signal })
  return { outcome: sandbox.hosts.call(call, program, 'main'), leave: () => visitor.abort() }
}

const callsOf = ({ siteId }: Program) => sandbox.hosts.callsOf(siteId)
const areSuspended = (program: Program, suspended: number) =>
  vi.waitFor(() => expect(callsOf(program)).toEqual({ running: 0, suspended, queued: 0 }), 10_000)

describe('a call that waits', () => {
  test.each([
    ['for nothing that will come', 'await new Promise(() => {})'],
    ['for a timer', 'await new Promise((go) => setTimeout(go, 60_000))'],
    ['for the service', `await fetch('https://x.test/')`],
  ])('%s leaves its place to the next', async (_what, wait) => {
    sandbox.events.answer = () => new Promise(() => {})
    const program = sandbox.program(
      `export default async ({ payload }) => { if (payload) { ${wait} } return 'short' }`,
      { limits: { concurrency: 1, queueMs: 2000 } },
    )
    const waiting = Array.from({ length: 20 }, () => visit(program, true))
    await areSuspended(program, 20)
    expect(valueOf(await sandbox.call(program, false))).toBe('short')
    for (const { leave } of waiting) leave()
    await areSuspended(
      program,
      sandbox.events.hostCalls.some(({ program: { key } }) => key === program.key) ? 20 : 0,
    )
  })

  test('keeps its place where none of its site may be suspended', async () => {
    const program = sandbox.program(
      'export default ({ payload }) => payload ? new Promise(() => {}) : 1',
      { limits: { concurrency: 1, suspendedCalls: 1, queueMs: 100 } },
    )
    const waiting = [visit(program, true), visit(program, true)]
    await areSuspended(program, 2)
    expect(await sandbox.call(program, false)).toMatchObject({ failure: { what: 'queueMs' } })
    for (const { leave } of waiting) leave()
    expect(valueOf(await sandbox.call(program, false))).toBe(1)
  })
})

describe('a call whose client has left', () => {
  test('ends at once where it waits for nothing that it has asked for, and gives back what it held', async () => {
    const program = sandbox.program(
      'export default ({ payload }) => payload ? new Promise((go) => setTimeout(go, 60_000)) : 1',
      { limits: { concurrency: 1, suspendedCalls: 63, queueMs: 5000 } },
    )
    const left = Array.from({ length: 64 }, () => visit(program, true))
    await areSuspended(program, 64)
    const queued = visit(program, true)
    const next = sandbox.call(program, false)
    await vi.waitFor(() => expect(callsOf(program).queued).toBe(2))
    // It waits for a place no longer, though none is free.
    queued.leave()
    expect(await queued.outcome).toMatchObject(INTERRUPTED)
    for (const { leave } of left) leave()
    for (const { outcome } of left) expect(await outcome).toMatchObject(INTERRUPTED)
    expect(valueOf(await next)).toBe(1)
    expect(callsOf(program)).toEqual({ running: 0, suspended: 0, queued: 0 })
  })

  test('goes on while it has a host call in flight, step by step, and not beyond', async () => {
    const gate = Promise.withResolvers<string>()
    const asked: string[] = []
    sandbox.events.answer = ({ argument }) => {
      asked.push(/\/(\w+)"/.exec(argument)?.[1] ?? '')
      return gate.promise
    }
    const program = sandbox.program(
      `export default async () => {
         await fetch('https://x.test/one').catch(() => {})
         await fetch('https://x.test/two').catch(() => {})
         await new Promise((go) => setTimeout(go, 1))
         await fetch('https://x.test/three').catch(() => {})
       }`,
    )
    const { outcome, leave } = visit(program)
    await vi.waitFor(() => expect(asked).toEqual(['one']))
    leave()
    gate.resolve('null')
    expect(await outcome).toMatchObject(INTERRUPTED)
    expect(asked).toEqual(['one', 'two'])
  })

  test('goes on with what it gave to waitUntil', async () => {
    const program = sandbox.program(
      `export default async (_input, { waitUntil }) => {
         waitUntil(new Promise((go) => setTimeout(go, 100)).then(() => console.log('done')))
         await new Promise(() => {})
       }`,
    )
    const { outcome, leave } = visit(program)
    await areSuspended(program, 1)
    leave()
    expect(await outcome).toMatchObject(INTERRUPTED)
    await vi.waitFor(() =>
      expect(sandbox.linesOf(program).map(({ message }) => message)).toContain('done'),
    )
  })

  test('makes room where too many of its site go on: the first that left ends', async () => {
    sandbox.events.answer = () => new Promise(() => {})
    const program = sandbox.program(`export default () => fetch('https://x.test/')`)
    const calls = Array.from({ length: 65 }, () => visit(program))
    await areSuspended(program, 65)
    for (const { leave } of calls) leave()
    expect(await calls[0]?.outcome).toMatchObject(INTERRUPTED)
    expect(callsOf(program)).toEqual({ running: 0, suspended: 64, queued: 0 })
  })

  test('takes what it has set off with it', async () => {
    const program = sandbox.program(
      'export default ({ payload }) => payload === "in" ? new Promise(() => {}) : 1',
    )
    const ended = new AbortController()
    const nested = sandbox.hosts.call(
      callOf(program, 'in', { depth: 1, signal: ended.signal }),
      program,
      'main',
    )
    await areSuspended(program, 1)
    ended.abort()
    expect(await nested).toMatchObject(INTERRUPTED)
  })

  test('is not the one of a job, which goes on when the service stops waiting', async () => {
    const stopping = new AbortController()
    const program = sandbox.program(
      'export default () => new Promise((go) => setTimeout(() => go("done"), 300))',
    )
    const call = callOf(program, null, { signal: stopping.signal })
    const outcome = sandbox.hosts.call(call, program, 'main')
    await areSuspended(program, 1)
    stopping.abort()
    expect(valueOf(await outcome)).toBe('done')
  })

  test('is ended before it begins, where its code is still loaded', async () => {
    const gate = Promise.withResolvers<string>()
    sandbox.events.answer = () => gate.promise
    const program = sandbox.program(
      `await fetch('https://x.test/').catch(() => {})
       export default ({ payload }) => console.log(payload)`,
    )
    const { outcome, leave } = visit(program, 'left')
    const stays = sandbox.call(program, 'stays')
    await vi.waitFor(() =>
      expect(sandbox.events.hostCalls.some(({ call }) => call.operation === 'op')).toBe(true),
    )
    await areSuspended(program, 2)
    leave()
    expect(await outcome).toMatchObject(INTERRUPTED)
    gate.resolve('null')
    await stays
    expect(sandbox.linesOf(program).map(({ message }) => message)).toEqual(['stays'])
  })
})

describe('the memory that suspended calls hold', () => {
  test('is bounded: a site that fills isolates begins no more, and does so when a call has ended', async () => {
    const program = sandbox.program(
      `export default async ({ payload }) => {
         if (!payload) return 'short'
         const bytes = new Uint8Array(6e6).fill(1)
         await new Promise(() => {})
         return bytes
       }`,
      { limits: { queueMs: 20_000 } },
    )
    const filling = Array.from({ length: 80 }, () => visit(program, true))
    await vi.waitFor(() => expect(callsOf(program).queued).toBeGreaterThan(10), 20_000)
    const waiting = sandbox.call(program, false)
    expect(await sandbox.run('export default () => 1')).toMatchObject({ ok: true })
    for (const { leave } of filling) leave()
    for (const { outcome } of filling) expect(await outcome).toMatchObject({ ok: false })
    expect(valueOf(await waiting)).toBe('short')
  })
})
