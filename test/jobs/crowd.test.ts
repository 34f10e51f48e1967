import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 30_000, interval: 20 }
const MINUTE_MS = 60_000
/** Long enough to outlast every test here. */
const SLEEP = 'export default () => new Promise((resolve) => setTimeout(resolve, 600_000))'
const SLEEPERS = ['one.test', 'two.test', 'three.test', 'four.test']
/** More than a site may have running at once. */
const SLEEPING_JOBS = 14

let now = Date.parse('2026-05-04T10:00:30Z')
let stack: Stack
let sites: RuntimeSite[]
const handBack = new AbortController()
beforeAll(async () => {
  const domains = [...SLEEPERS, 'calm.test']
  stack = await startStack({
    sites: domains,
    works: false,
    platform: { clock: { now: () => new Date(now) } },
  })
  sites = await Promise.all(domains.map((host) => RuntimeSite.open(stack, host)))
  const stop = new AbortController()
  const work = stack.context.work(stop.signal, handBack.signal)
  stops.push(async () => {
    stop.abort()
    handBack.abort()
    await work
  })
  for (const site of sites) {
    await site.putOperation('echo', { preset: { preset: 'echo' } })
    await site.putOperation('sleep', {
      lambdaResourceId: await site.putFunction('sleep', SLEEP, { timeoutSeconds: 900 }),
    })
    await site.synced()
  }
})
const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops) await stop()
  await stack[Symbol.asyncDispose]()
})

const ok = async (site: RuntimeSite, method: string, path: string, body?: object) => {
  const answer = await site.admin(method, path, body)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.json
}

const runsOf = (host: string) =>
  stack.inSite(host, ({ db }) =>
    db.selectFrom('data_job_run').select(['job_id', 'status', 'trigger']).execute(),
  )
const running = async (host: string, trigger: string) =>
  (await runsOf(host)).filter((run) => run.status === 'running' && run.trigger === trigger).length

/** How long a run that starts now takes until it is over. */
async function succeedsAfterMs(site: RuntimeSite, jobId: string): Promise<number> {
  const startedAt = performance.now()
  await vi.waitUntil(async () => {
    const { lastRun } = await ok(site, 'GET', `/jobs/${jobId}`)
    return lastRun?.status === 'succeeded'
  }, PATIENCE)
  return performance.now() - startedAt
}

describe('sites whose runs sleep, as many as they may have', () => {
  beforeAll(async () => {
    for (const site of sites.slice(0, SLEEPERS.length)) {
      for (let job = 0; job < SLEEPING_JOBS; job += 1) {
        await ok(site, 'PUT', `/jobs/sleep${job}`, { operation: 'sleep' })
        await ok(site, 'POST', `/jobs/sleep${job}`)
      }
    }
    // They hold what there is.
    await vi.waitUntil(async () => {
      const counts = await Promise.all(SLEEPERS.map((host) => running(host, 'manual')))
      return counts.every((count) => count >= 8)
    }, PATIENCE)
  })

  test('have a bound of their own', async () => {
    const counts = await Promise.all(SLEEPERS.map((host) => running(host, 'manual')))
    // What is claimed at the very same moment does not see each other: the bound is soft by one.
    for (const count of counts) expect(count).toBeLessThanOrEqual(9)
  })

  test('do not keep the run of a site without one waiting', async () => {
    const [calm] = sites.slice(-1)
    if (!calm) throw new Error('there is no such site')
    await ok(calm, 'PUT', '/jobs/echo', { operation: 'echo' })
    await ok(calm, 'POST', '/jobs/echo')
    expect(await succeedsAfterMs(calm, 'echo')).toBeLessThan(5000)
  })

  test('do not make a tick late: neither their own nor those of others', async () => {
    for (const site of sites) {
      await ok(site, 'PUT', '/jobs/tick', { operation: 'echo', schedule: { cron: '* * * * *' } })
    }
    now += MINUTE_MS
    const waits = await Promise.all(sites.map((site) => succeedsAfterMs(site, 'tick')))
    for (const waitMs of waits) expect(waitMs).toBeLessThan(5000)
  })
})

describe('sites whose ticks sleep', () => {
  test('do not keep the ticks of a site without one waiting', async () => {
    for (const site of sites.slice(0, SLEEPERS.length)) {
      for (let job = 0; job < SLEEPING_JOBS; job += 1) {
        const schedule = { cron: '* * * * *' }
        await ok(site, 'PUT', `/jobs/doze${job}`, { operation: 'sleep', schedule })
      }
    }
    now += MINUTE_MS
    await vi.waitUntil(async () => {
      const counts = await Promise.all(SLEEPERS.map((host) => running(host, 'schedule')))
      return counts.every((count) => count > 0) && counts.reduce((a, b) => a + b) >= 16
    }, PATIENCE)
    const [calm] = sites.slice(-1)
    if (!calm) throw new Error('there is no such site')
    const before = (await ok(calm, 'GET', '/jobs/tick')).lastRun.scheduledFor
    now += MINUTE_MS
    const startedAt = performance.now()
    await vi.waitUntil(async () => {
      const { lastRun } = await ok(calm, 'GET', '/jobs/tick')
      return lastRun.scheduledFor > before && lastRun.status === 'succeeded'
    }, PATIENCE)
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })
})
