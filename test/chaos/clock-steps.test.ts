import { randomBytes } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { SettableClock, faketimeMissing, startPostgresBy } from '#test/settable-clock.ts'
import { startCroft } from '#test/started-croft.ts'
import { tellTallies } from '#test/tally.ts'

const HOST = 'shop.test'
const OPERATOR_KEY = randomBytes(32).toString('base64url')
const TWO_HOURS_S = 7200
/** A job of every minute runs within that time, however the clock was set. */
const RUNS_WITHIN_MS = 75_000

let cleanUp: AsyncDisposableStack
beforeEach(() => {
  cleanUp = new AsyncDisposableStack()
})
afterEach(() => cleanUp.disposeAsync())

async function start(clock: SettableClock): Promise<CroftProcess> {
  const database = await startPostgresBy(clock, cleanUp)
  const env = { ...clock.env, DATABASE_URL: database, CROFT_OPERATOR_KEY: OPERATOR_KEY }
  return startCroft(cleanUp, env)
}

const steps = (croft: CroftProcess): number =>
  croft.log.filter(({ msg }) => msg === "the database's clock was set").length

const why = faketimeMissing()
describe.skipIf(why !== undefined)(`a clock that is set${why ? ` (${why})` : ''}`, () => {
  test('two hours ahead, and back, keeps no job from its runs and no admin from the site', async () => {
    const clock = await SettableClock.create(cleanUp)
    const croft = await start(clock)
    const portal = portalOf(croft, OPERATOR_KEY)
    await portal.createSite(HOST)
    await portal.createOperation(HOST, 'tick', 'export default () => 1')
    const admin = await portal.admin(HOST)
    const schedule = { cron: '* * * * *' }
    await admin('PUT', '/admin/data/jobs/tick', { operation: 'tick', schedule })
    const runs = async (): Promise<number> => {
      const now = await portal.admin(HOST)
      const { json } = await now('GET', '/admin/data/jobs/tick/runs')
      return json.items.filter(({ status }: { status: string }) => status === 'succeeded').length
    }
    const nextRun = async (): Promise<number> => {
      const fromMs = performance.now()
      const before = await runs()
      await expect.poll(runs, { timeout: RUNS_WITHIN_MS, interval: 500 }).toBeGreaterThan(before)
      return performance.now() - fromMs
    }
    const undisturbedMs = await nextRun()
    clock.set(TWO_HOURS_S)
    const aheadMs = await nextRun()
    clock.set(0)
    const backMs = await nextRun()
    tellTallies({ undisturbedMs, aheadMs, backMs })
    expect(steps(croft)).toBe(2)
    expect(await croft.call({ path: '/readyz' })).toMatchObject({ status: 200 })
    await admin('GET', '/admin/data/jobs')
  })
})
