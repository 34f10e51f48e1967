import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 20_000, interval: 20 }
const MINUTE_MS = 60_000

/** A time that only the tests move; every replica lives by it. */
let now = Date.parse('2026-05-04T10:00:30Z')
const clock = { now: () => new Date(now) }
const at = (time: string) => `2026-05-04T${time}:00.000Z`

let stack: Stack
let site: RuntimeSite
let two: RuntimeSite
beforeAll(async () => {
  stack = await startStack({ platform: { clock } })
  await signIn()
  const nap = 'export default () => new Promise((resolve) => setTimeout(() => resolve(1), 1500))'
  await site.putOperation('nap', { lambdaResourceId: await site.putFunction('nap', nap) })
  for (const each of [site, two]) {
    await each.putOperation('echo', { preset: { preset: 'echo' } })
    await each.synced()
  }
})
// Tokens end by the same clock.
beforeEach(signIn)
afterAll(() => stack[Symbol.asyncDispose]())

async function signIn(): Promise<void> {
  site = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
}

const put = async (of: RuntimeSite, jobId: string, body: object) => {
  const answer = await of.admin('PUT', `/jobs/${jobId}`, body)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.json
}

/** Lets that much time pass at once, and looks at the schedules. */
async function pass(minutes: number): Promise<void> {
  now += minutes * MINUTE_MS
  await stack.context.jobScheduler.tick()
}

type Run = Record<string, unknown> & { readonly status: string }

/** Newest first, once none of them waits or runs. */
async function settled(of: RuntimeSite, jobId: string): Promise<Run[]> {
  let runs: Run[] = []
  await vi.waitUntil(async () => {
    runs = (await of.admin('GET', `/jobs/${jobId}/runs?limit=100`)).json.items
    return runs.every(({ status }) => status !== 'queued' && status !== 'running')
  }, PATIENCE)
  return runs
}

describe('a scheduled job', () => {
  test('runs at each of its ticks, on each site', async () => {
    const schedule = { cron: '*/2 * * * *' }
    const job = await put(site, 'even', { operation: 'echo', payload: 'one', schedule })
    await put(two, 'even', { operation: 'echo', payload: 'two', schedule })
    expect(job.nextRunAt).toBe(at('10:02'))
    await pass(1)
    expect(await settled(site, 'even')).toEqual([])
    await pass(1)
    for (const of of [site, two]) await settled(of, 'even')
    await pass(2)
    for (const [of, result] of [
      [site, 'one'],
      [two, 'two'],
    ] as const) {
      const expected = { status: 'succeeded', trigger: 'schedule', missed: 0, attempts: 1, result }
      expect(await settled(of, 'even')).toMatchObject([
        { ...expected, scheduledFor: at('10:04') },
        { ...expected, scheduledFor: at('10:02') },
      ])
    }
    expect((await site.admin('GET', '/jobs/even')).json).toMatchObject({
      nextRunAt: at('10:06'),
      lastRun: { status: 'succeeded', scheduledFor: at('10:04') },
    })
  })

  test('makes one run of the ticks that it missed', async () => {
    await put(site, 'missed', { operation: 'echo', schedule: { cron: 'rate(5 minutes)' } })
    const start = now
    await pass(43)
    const runs = await settled(site, 'missed')
    const ticks = Math.floor((now - Math.floor(start / MINUTE_MS) * MINUTE_MS) / (5 * MINUTE_MS))
    expect(runs).toMatchObject([{ status: 'succeeded', missed: ticks - 1 }])
    expect(runs).toHaveLength(1)
    expect(now - Date.parse(String(runs[0]?.['scheduledFor']))).toBeLessThan(5 * MINUTE_MS)
  })

  test('skips and records a tick while a run of it is not over', async () => {
    await put(site, 'napping', { operation: 'nap', schedule: { cron: 'rate(1 minute)' } })
    await pass(1)
    await vi.waitUntil(async () => {
      const { json } = await site.admin('GET', '/jobs/napping')
      return json.lastRun?.status === 'running'
    }, PATIENCE)
    await pass(1)
    const runs = await settled(site, 'napping')
    const message = expect.stringContaining(`Run "${String(runs[1]?.['runId'])}" of this job`)
    expect(runs).toMatchObject([
      {
        status: 'skipped',
        trigger: 'schedule',
        attempts: 0,
        durationMs: null,
        error: { code: 'JobOverlap', message },
      },
      { status: 'succeeded', result: 1 },
    ])
    expect((await site.admin('GET', '/jobs/napping')).json.lastRun.status).toBe('succeeded')
    await pass(1)
    expect((await settled(site, 'napping'))[0]).toMatchObject({ status: 'succeeded' })
    await put(site, 'napping', { operation: 'nap' })
  })

  test('is skipped and recorded while a run that was started by hand is not over, and never starts beside it', async () => {
    await put(site, 'both', { operation: 'nap', schedule: { cron: '* * * * *' } })
    for (let round = 0; round < 3; round += 1) {
      now += MINUTE_MS
      const [started] = await Promise.all([
        site.admin('POST', '/jobs/both'),
        stack.context.jobScheduler.tick(),
      ])
      const runs = await settled(site, 'both')
      const newest = runs.slice(0, started.status === 200 ? 2 : 1)
      const carriedOut = newest.filter(({ status }) => status === 'succeeded')
      expect(carriedOut, JSON.stringify(newest)).toHaveLength(1)
      expect([200, 409]).toContain(started.status)
    }
    await put(site, 'both', { operation: 'nap' })
  })

  test('stops when its schedule is stopped, and does not make up for it', async () => {
    const job = { operation: 'echo', schedule: { cron: '* * * * *' } }
    await put(site, 'stopped', job)
    await put(site, 'stopped', { ...job, enabled: false })
    await pass(10)
    expect(await settled(site, 'stopped')).toEqual([])
    await put(site, 'stopped', job)
    await stack.context.jobScheduler.tick()
    expect(await settled(site, 'stopped')).toEqual([])
    await pass(1)
    expect(await settled(site, 'stopped')).toMatchObject([{ status: 'succeeded', missed: 0 }])
  })

  test('is ticked once by replicas that look at once, one of them with a clock ahead', async () => {
    const ahead = { now: () => new Date(now + 3000) }
    await using other = await startStack({ beside: stack, platform: { clock: ahead } })
    const names = Array.from({ length: 12 }, (_, count) => `crowd${count}`)
    for (const name of names) {
      await put(site, name, { operation: 'echo', schedule: { cron: '* * * * *' } })
    }
    for (let minute = 0; minute < 2; minute += 1) {
      now += MINUTE_MS
      await Promise.all(
        [stack, other, stack, other].map(({ context }) => context.jobScheduler.tick()),
      )
      for (const name of names) await settled(site, name)
    }
    for (const name of names) {
      const runs = await settled(site, name)
      expect(runs.map(({ scheduledFor }) => scheduledFor)).toEqual(
        [0, 1].map((back) =>
          new Date(Math.floor(now / MINUTE_MS - back) * MINUTE_MS).toISOString(),
        ),
      )
      expect(runs.every(({ status, missed }) => status === 'succeeded' && missed === 0)).toBe(true)
    }
    for (const name of names) await site.admin('DELETE', `/jobs/${name}`)
  })

  test('never has one tick twice, when it is put again after the clock was set back', async () => {
    const before = now
    await put(site, 'again', { operation: 'echo', schedule: { cron: '* * * * *' } })
    await pass(2)
    const [run] = await settled(site, 'again')
    now = before
    await put(site, 'again', { operation: 'echo', schedule: { cron: '*/1 * * * *' } })
    for (let minute = 0; minute < 3; minute += 1) {
      await pass(1)
      await settled(site, 'again')
    }
    const ticks = (await settled(site, 'again')).map(({ scheduledFor }) => scheduledFor)
    expect(ticks).toHaveLength(3)
    expect(new Set(ticks)).toContain(run?.['scheduledFor'])
    expect(new Set(ticks).size).toBe(3)
  })

  test('goes on at once when the clock was two hours ahead for a while, and runs no tick twice', async () => {
    const before = now
    await put(site, 'early', { operation: 'echo', schedule: { cron: '*/5 * * * *' } })
    await pass(120)
    await signIn()
    const [ahead] = await settled(site, 'early')
    await put(site, 'new', { operation: 'echo', schedule: { cron: '*/5 * * * *' } })
    now = before
    await signIn()
    await pass(1)
    for (const jobId of ['early', 'new']) {
      const { nextRunAt } = (await site.admin('GET', `/jobs/${jobId}`)).json
      expect(Date.parse(nextRunAt) - now).toBeGreaterThan(0)
      expect(Date.parse(nextRunAt) - now).toBeLessThanOrEqual(5 * MINUTE_MS)
    }
    await pass(5)
    expect(await settled(site, 'early')).toHaveLength(2)
    expect(await settled(site, 'new')).toHaveLength(1)
    now = Date.parse(String(ahead?.['scheduledFor'])) - 5 * MINUTE_MS
    await signIn()
    for (let tick = 0; tick < 2; tick += 1) await pass(5)
    const ticks = (await settled(site, 'early')).map(({ scheduledFor }) => scheduledFor)
    expect(ticks).toContain(ahead?.['scheduledFor'])
    expect(new Set(ticks).size).toBe(ticks.length)
    expect(Date.parse(String(ticks[0]))).toBeGreaterThan(Date.parse(String(ticks[1])))
    for (const jobId of ['early', 'new']) await site.admin('DELETE', `/jobs/${jobId}`)
    await signIn()
  })

  test('is stopped, and says so, when its schedule means nothing any more', async () => {
    await put(site, 'lost', { operation: 'echo', schedule: { cron: '* * * * *' } })
    await stack.inSite('one.test', ({ db }) =>
      db
        .updateTable('data_job')
        .set({ schedule: JSON.stringify({ cron: '* * * * *', timezone: 'Atlantis/Capital' }) })
        .where('job_id', '=', 'lost')
        .execute(),
    )
    await pass(1)
    expect(await settled(site, 'lost')).toMatchObject([
      { status: 'failed', error: { code: 'ValidationError' } },
    ])
    expect((await site.admin('GET', '/jobs/lost')).json.nextRunAt).toBeNull()
  })

  test('goes on after a restart, with what fell due in between', async () => {
    await put(site, 'lasting', { operation: 'echo', schedule: { cron: '*/10 * * * *' } })
    now += 35 * MINUTE_MS
    // No client asks it to look: its own work does.
    await using _restarted = await startStack({ beside: stack, platform: { clock } })
    await vi.waitUntil(async () => (await settled(site, 'lasting')).length > 0, PATIENCE)
    const runs = await settled(site, 'lasting')
    expect(runs).toHaveLength(1)
    expect(runs[0]).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(runs[0]?.['missed']).toBeGreaterThanOrEqual(2)
  })
})

describe('the scheduler', () => {
  test('ends with its signal and leaves no timer', async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const { jobScheduler } = stack.context
    const idle = timers()
    const stop = new AbortController()
    const running = Array.from({ length: 50 }, () => jobScheduler.run(stop.signal))
    expect(timers()).toBeGreaterThan(idle + 40)
    stop.abort()
    await Promise.all(running)
    expect(timers()).toBeLessThan(idle + 25)
    await jobScheduler.run(stop.signal)
  })
})
