import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { CallLog, slowestMs } from '#test/call-log.ts'
import { ChaosSite } from '#test/chaos-site.ts'
import { CpuShare, canShareCpu } from '#test/cpu-share.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { startCroft } from '#test/started-croft.ts'
import { tellTallies } from '#test/tally.ts'

const OPERATOR_KEY = randomBytes(32).toString('base64url')
const PERCENT = 5
const STARVED_MS = 120_000
/** As many as so little of a processor can serve within the time that a call may take. */
const CALLERS = 3
const PAUSE_MS = 500
const FOUND_DEAD = ['the database does not answer', 'a connection to the database went silent']

let cleanUp: AsyncDisposableStack
beforeEach(() => {
  cleanUp = new AsyncDisposableStack()
})
afterEach(() => cleanUp.disposeAsync())

function starve(croft: CroftProcess): CpuShare {
  const share = cleanUp.use(new CpuShare(PERCENT))
  const postgres = croft.postgres()?.pid ?? 0
  expect(postgres).toBeGreaterThan(0)
  for (const pid of [croft.pid, postgres]) share.add(pid)
  for (const { pid, parent } of croft.processes()) if (parent === postgres) share.add(pid)
  return share
}

describe.runIf(canShareCpu)('a service that has 5 % of a processor with its database', () => {
  test('is slow, and takes neither the database nor a connection to it for dead', async () => {
    const croft = await startCroft(cleanUp, { CROFT_OPERATOR_KEY: OPERATOR_KEY })
    const site = await ChaosSite.create(croft, OPERATOR_KEY, 'one.test')
    await site.keep()
    const log = new CallLog()
    const over = new AbortController()
    const share = starve(croft)
    const work = Array.from({ length: CALLERS }, async () => {
      while (!over.signal.aborted) {
        await log.record('keep', () => site.keep())
        await log.record('find', () => site.find())
        await log.record('putItem', () => site.putItem())
        await delay(PAUSE_MS)
      }
    })
    await delay(STARVED_MS)
    over.abort()
    await Promise.all(work)
    share[Symbol.dispose]()
    const faults = log.faults({})
    tellTallies({ calls: log.calls.length, slowestMs: slowestMs(log.calls), faults })
    expect(Object.keys(faults).filter((fault) => fault.startsWith('503'))).toEqual([])
    expect(log.calls.filter(({ fault }) => fault === undefined).length).toBeGreaterThan(50)
    const said = croft.log.map(({ msg }) => String(msg))
    expect(said.filter((msg) => FOUND_DEAD.some((words) => msg.startsWith(words)))).toEqual([])
    expect(await site.missing()).toEqual([])
  })
})
