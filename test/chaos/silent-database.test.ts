import { randomBytes } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { slowestMs } from '#test/call-log.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { type Fault, type FaultJourney, workThrough } from '#test/fault-journey.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { childrenOf } from '#test/process-table.ts'
import { startCroft } from '#test/started-croft.ts'
import { StoppedBackends } from '#test/stopped-backends.ts'
import { tellTallies } from '#test/tally.ts'
import { TcpProxy } from '#test/tcp-proxy.ts'

const OPERATOR_KEY = randomBytes(32).toString('base64url')
const AWAY = 'ServiceUnavailable'
const REFUSED_WITHIN_MS = 3000
const BACK_WITHIN_MS = 10_000
const READY_WITHIN_MS = 2000

let cleanUp: AsyncDisposableStack
beforeEach(() => {
  cleanUp = new AsyncDisposableStack()
})
afterEach(() => cleanUp.disposeAsync())

const start = (env: Record<string, string>): Promise<CroftProcess> =>
  startCroft(cleanUp, { ...env, CROFT_OPERATOR_KEY: OPERATOR_KEY })

const said = (croft: CroftProcess, message: string): Record<string, unknown>[] =>
  croft.log.filter(({ msg }) => msg === message)

async function journey(croft: CroftProcess, fault: Fault): Promise<FaultJourney> {
  const seen = await workThrough(croft, OPERATOR_KEY, fault)
  const { log, away } = seen
  tellTallies({
    refusedMs: slowestMs(log.during({ ...away, kind: 'keep' })),
    backMs: log.recoveryMs('keep', away.toMs),
    readyMs: slowestMs(log.during({ kind: 'readyz' })),
    faults: log.faults({}),
  })
  return seen
}

/** What holds whenever the whole database is away. */
function expectAway({ log, away, readiness, missing }: FaultJourney): void {
  expect(missing).toEqual([])
  expect(log.faults({ kind: 'echo' })).toEqual({})
  expect(log.during({ ...away, kind: 'echo' }).length).toBeGreaterThan(100)
  for (const kind of ['keep', 'putItem']) {
    const calls = log.during({ ...away, kind })
    expect(slowestMs(calls)).toBeLessThan(REFUSED_WITHIN_MS)
    expect(calls.filter(({ fault }) => fault !== undefined).length).toBeGreaterThan(20)
    expect(Object.keys(log.faults({ kind })).filter((words) => !words.includes(AWAY))).toEqual([])
    expect(log.faults({ kind, toMs: away.fromMs - REFUSED_WITHIN_MS })).toEqual({})
  }
  expect(log.faults({ kind: 'readyz' })).toEqual({})
  expect(slowestMs(log.during({ kind: 'readyz' }))).toBeLessThan(READY_WITHIN_MS)
  expect(readiness).toMatchObject({ checks: { postgres: expect.not.stringMatching(/^ok$/) } })
}

describe('a database', () => {
  test('that falls silent, and whose name leads to a live one later, costs what needs it and loses nothing', async () => {
    const database = cleanUp.use(await cloneDatabase())
    const proxy = cleanUp.use(await TcpProxy.start(database.url))
    const croft = await start({ DATABASE_URL: proxy.url })
    const seen = await journey(croft, {
      begin: () => proxy.fallSilent(),
      end: () => proxy.leadElsewhere(),
    })
    expectAway(seen)
    expect(seen.log.recoveryMs('keep', seen.away.toMs)).toBeLessThan(BACK_WITHIN_MS)
    expect(seen.log.recoveryMs('putItem', seen.away.toMs)).toBeLessThan(BACK_WITHIN_MS)
    expect(said(croft, 'the database does not answer')).toHaveLength(1)
    expect(said(croft, 'the database answers again')).toEqual([
      expect.objectContaining({ awayMs: expect.any(Number) }),
    ])
  })

  test('whose processes are all stopped is away until they go on', async () => {
    const croft = await start({})
    const server = croft.postgres()?.pid ?? 0
    expect(server).toBeGreaterThan(0)
    const signalAll = (name: NodeJS.Signals): void => {
      for (const pid of [server, ...childrenOf(server).map((child) => child.pid)]) {
        process.kill(pid, name)
      }
    }
    const seen = await journey(croft, {
      begin: () => signalAll('SIGSTOP'),
      end: () => signalAll('SIGCONT'),
    })
    expectAway(seen)
    expect(seen.log.recoveryMs('keep', seen.away.toMs)).toBeLessThan(BACK_WITHIN_MS)
    expect(said(croft, 'the database does not answer')).toHaveLength(1)
  })

  test('whose processes for our connections are stopped is served by others', async () => {
    const database = cleanUp.use(await cloneDatabase())
    const croft = await start({ DATABASE_URL: database.url })
    const backends = new StoppedBackends(database.name)
    const seen = await journey(croft, backends)
    expect(backends.pids.length).toBeGreaterThan(2)
    const { log, away, missing } = seen
    expect(missing).toEqual([])
    expect(log.faults({ kind: 'echo' })).toEqual({})
    expect(log.recoveryMs('keep', away.fromMs + 1)).toBeLessThan(REFUSED_WITHIN_MS)
    for (const kind of ['keep', 'find', 'putItem']) {
      expect(slowestMs(log.during({ ...away, kind }))).toBeLessThan(REFUSED_WITHIN_MS)
      expect(log.faults({ kind, fromMs: away.fromMs + REFUSED_WITHIN_MS })).toEqual({})
    }
    expect(slowestMs(log.during({ kind: 'readyz' }))).toBeLessThan(READY_WITHIN_MS)
  })
})
