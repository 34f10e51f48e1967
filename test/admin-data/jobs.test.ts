import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 20_000, interval: 20 }

/** The functions behind the jobs of these tests, by operation. */
const CODE = {
  answer: 'export default (input, ctx) => { console.log("here", input.payload); return input }',
  big: 'export default () => "ä".repeat(60_000)',
  refuse: 'export default () => { throw { statusCode: 422, code: "NotToday", message: "closed" } }',
  broken: 'export default () => { throw new Error("a word for the log") }',
  slow: 'export default () => new Promise((resolve) => setTimeout(() => resolve("slept"), 700))',
} as const

let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
  for (const [operation, code] of Object.entries(CODE)) {
    const lambdaResourceId = await one.putFunction(operation, code)
    await one.putOperation(operation, { lambdaResourceId })
  }
  const forever = 'export default () => { for (;;) {} }'
  const endless = await one.putFunction('endless', forever, { timeoutSeconds: 1 })
  await one.putOperation('endless', { lambdaResourceId: endless })
  await two.putOperation('answer', { preset: { preset: 'echo' } })
  await one.synced()
  await two.synced()
})
afterAll(() => stack[Symbol.asyncDispose]())

async function put(site: RuntimeSite, jobId: string, body: object) {
  const answer = await site.admin('PUT', `/jobs/${jobId}`, body)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.json
}

/** Starts the job by hand and gives its run when that is over. */
async function run(site: RuntimeSite, jobId: string) {
  const started = await site.admin('POST', `/jobs/${jobId}`, { trigger: 'test' })
  expect(started, started.text).toMatchObject({ status: 200 })
  return over(site, jobId, started.json.data.runId)
}

async function over(site: RuntimeSite, jobId: string, runId: string) {
  let found = await site.admin('GET', `/jobs/${jobId}/runs/${runId}`)
  await vi.waitUntil(async () => {
    found = await site.admin('GET', `/jobs/${jobId}/runs/${runId}`)
    return !['queued', 'running'].includes(found.json.status)
  }, PATIENCE)
  return found.json
}

describe('a job', () => {
  test('is created with what it calls, and listed', async () => {
    const job = await put(one, 'report', {
      operation: 'answer',
      payload: { of: ['yesterday'] },
      schedule: { cron: '30 2 * * MON', timezone: 'Europe/Berlin' },
    })
    expect(job).toEqual({
      jobId: 'report',
      operation: 'answer',
      payload: { of: ['yesterday'] },
      schedule: { cron: '30 2 * * MON', timezone: 'Europe/Berlin' },
      auth: { mode: 'system' },
      enabled: true,
      nextRunAt: expect.stringMatching(/T0[01]:30:00\.000Z$/),
      lastRun: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const { payload, ...rest } = job
    const listed = await one.admin('GET', '/jobs')
    expect(listed.json.nextToken).toBeNull()
    expect(listed.json.items).toContainEqual({ ...rest, payload, payloadBytes: 21 })
    expect((await one.admin('GET', '/jobs/report')).json).toEqual(job)
    expect((await two.admin('GET', '/jobs')).json.items).toEqual([])
  })

  test('is replaced as a whole: what a PUT leaves out has its default, and no schedule means by hand', async () => {
    const schedule = { cron: 'rate(2 days)' }
    const auth = { mode: 'user', username: 'ann@example.test' }
    await stack.dataToken('one.test', { user: auth.username })
    const before = await put(one, 'changing', { operation: 'answer', payload: 1, schedule, auth })
    expect(before.nextRunAt).toEqual(expect.any(String))
    expect(await put(one, 'changing', { operation: 'answer' })).toEqual({
      ...before,
      payload: null,
      schedule: null,
      auth: { mode: 'system' },
      nextRunAt: null,
      updatedAt: expect.any(String),
    })
    const due = await stack.inSite('one.test', ({ db }) =>
      db.selectFrom('data_job_due').select('job_id').where('job_id', '=', 'changing').execute(),
    )
    expect(due).toEqual([])
    const stopped = { operation: 'answer', schedule, enabled: false }
    expect(await put(one, 'changing', stopped)).toMatchObject({ schedule, nextRunAt: null })
    const again = await put(one, 'changing', { operation: 'answer', schedule })
    expect(again).toMatchObject({ enabled: true, nextRunAt: expect.any(String) })
    const same = await put(one, 'changing', { schedule, operation: 'answer', enabled: true })
    expect(same).toEqual(again)
    for (const part of [{ payload: 2 }, { enabled: false }, { schedule: null }]) {
      const refused = await one.admin('PUT', '/jobs/changing', part)
      expect(refused).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
      expect(refused.text).toContain('operation')
    }
    expect((await one.admin('GET', '/jobs/changing')).json).toEqual(again)
  })

  test('takes the schedules of AWS', async () => {
    const job = await put(one, 'aws', {
      operation: 'answer',
      schedule: { cron: 'cron(0 12 ? * 2 *)' },
    })
    expect(job.schedule).toEqual({ cron: 'cron(0 12 ? * 2 *)' })
    expect(new Date(job.nextRunAt).getUTCDay()).toBe(1)
  })

  test('is gone with its schedule and its runs after DELETE', async () => {
    await put(one, 'short', { operation: 'answer', schedule: { cron: '* * * * *' } })
    await run(one, 'short')
    expect((await one.admin('DELETE', '/jobs/short')).json).toEqual({ ok: true })
    for (const [method, path] of [
      ['GET', '/jobs/short'],
      ['POST', '/jobs/short'],
      ['DELETE', '/jobs/short'],
      ['GET', '/jobs/short/runs'],
    ] as const) {
      expect(await one.admin(method, path), path).toMatchObject({
        status: 404,
        json: { error: { code: 'JobNotFound' } },
      })
    }
    const left = await stack.inSite('one.test', ({ db }) =>
      Promise.all([
        db.selectFrom('data_job_due').select('job_id').where('job_id', '=', 'short').execute(),
        db.selectFrom('data_job_run').select('job_id').where('job_id', '=', 'short').execute(),
      ]),
    )
    expect(left).toEqual([[], []])
  })

  test('keeps its operation from being deleted', async () => {
    await two.putOperation('used', { preset: { preset: 'echo' } })
    await put(two, 'user', { operation: 'used' })
    expect(await two.admin('DELETE', '/operations/used')).toMatchObject({
      status: 409,
      json: { error: { code: 'ResourceInUse', jobs: ['user'] } },
    })
    await two.admin('DELETE', '/jobs/user')
    expect((await two.admin('DELETE', '/operations/used')).status).toBe(200)
  })

  test('of one site is nothing to another', async () => {
    await put(one, 'mine', { operation: 'answer' })
    expect((await two.admin('GET', '/jobs/mine')).status).toBe(404)
    expect((await two.admin('POST', '/jobs/mine')).status).toBe(404)
    expect((await two.admin('DELETE', '/jobs/mine')).status).toBe(404)
    const { runId } = await run(one, 'mine')
    await put(two, 'mine', { operation: 'answer' })
    expect((await two.admin('GET', `/jobs/mine/runs/${runId}`)).status).toBe(404)
    expect((await two.admin('GET', '/jobs/mine/runs')).json.items).toEqual([])
  })

  test.each<[string, string, unknown, string]>([
    ['without an operation', 'a', {}, 'operation'],
    ['with an operation that is not there', 'a', { operation: 'none' }, 'does not exist'],
    ['with an operation of another site', 'a', { operation: 'used' }, 'does not exist'],
    ['under a name that is none', '1a', { operation: 'answer' }, 'jobId'],
    [
      'with six fields',
      'a',
      { operation: 'answer', schedule: { cron: '0 * * * * *' } },
      'the finest schedule is one minute',
    ],
    [
      'with a date that never comes',
      'a',
      { operation: 'answer', schedule: { cron: '0 0 30 2 *' } },
      'never comes',
    ],
    [
      'with another',
      'a',
      { operation: 'answer', schedule: { cron: '0 0 31 4,6,9,11 *' } },
      'never comes',
    ],
    [
      'with a rate that is none',
      'a',
      { operation: 'answer', schedule: { cron: 'rate(1 minutes)' } },
      'rate(1 minute)',
    ],
    [
      'with a zone that is none',
      'a',
      { operation: 'answer', schedule: { cron: '* * * * *', timezone: 'Mars' } },
      'IANA',
    ],
    ['with an empty schedule', 'a', { operation: 'answer', schedule: {} }, 'schedule'],
    [
      'with a user without a name',
      'a',
      { operation: 'answer', auth: { mode: 'user' } },
      'auth.username',
    ],
    [
      'with a name for the system',
      'a',
      { operation: 'answer', auth: { mode: 'system', username: 'x' } },
      'auth.username',
    ],
    ['with NUL in its payload', 'a', { operation: 'answer', payload: 'a\0' }, 'NUL'],
    ['with an unknown field', 'a', { operation: 'answer', colour: 1 }, 'colour'],
    [
      'with a payload that is nested too deep',
      'a',
      { operation: 'answer', payload: nested(130) },
      'nested',
    ],
  ])('is refused %s', async (_what, jobId, body, words) => {
    const answer = await one.admin('PUT', `/jobs/${jobId}`, body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.text).toContain(words)
    expect((await one.admin('GET', '/jobs/a')).status).toBe(404)
  })

  test('is refused with a body that is broken or a payload that is too long', async () => {
    const token = await stack.adminToken('one.test')
    const broken = await stack.call('one.test', 'PUT', '/admin/data/jobs/a', {
      token,
      body: '{"operation":',
      headers: { 'content-type': 'application/json' },
    })
    expect(broken).toMatchObject({ status: 400, json: { error: { code: 'InvalidJson' } } })
    const payload = 'x'.repeat(256 * 1024 - 1)
    expect(await one.admin('PUT', '/jobs/a', { operation: 'answer', payload })).toMatchObject({
      status: 413,
      json: { error: { code: 'PayloadTooLarge', limitBytes: 262_144 } },
    })
    const fits = await put(one, 'long', { operation: 'answer', payload: payload.slice(1) })
    expect(fits.payload).toHaveLength(256 * 1024 - 2)
    const listed = await one.admin('GET', '/jobs')
    const item = listed.json.items.find((job: { jobId: string }) => job.jobId === 'long')
    expect(item.payloadBytes).toBe(256 * 1024)
    expect(item).not.toHaveProperty('payload')
  })

  test('is for admins', async () => {
    const token = await stack.adminToken('one.test', 'user')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/x'],
      ['PUT', '/x'],
      ['POST', '/x'],
      ['DELETE', '/x'],
      ['GET', '/x/runs'],
      ['GET', '/x/runs/y'],
    ] as const) {
      const answer = await stack.call('one.test', method, `/admin/data/jobs${path}`, { token })
      expect(answer.status, `${method} ${path}`).toBe(403)
    }
  })

  test('is one of 200 at most, also when the last place is asked for at once', async () => {
    const site = await RuntimeSite.create(stack, 'many.test')
    await site.putOperation('answer', { preset: { preset: 'echo' } })
    await stack.inSite('many.test', (tx) =>
      tx.db
        .insertInto('data_job')
        .values(
          Array.from({ length: 198 }, (_, at) => ({
            site_id: tx.siteId,
            job_id: `job${at}`,
            operation: 'answer',
            payload: '{}',
            schedule: null,
            scheduled_since: new Date(),
            auth: '{"mode":"system"}',
            last_tick: null,
          })),
        )
        .execute(),
    )
    const names = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(
      names.map((name) => site.admin('PUT', `/jobs/${name}`, { operation: 'answer' })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 400, 400,
    ])
    expect(await site.items('/jobs')).toHaveLength(200)
  })
})

const nested = (levels: number): unknown => (levels === 0 ? 0 : [nested(levels - 1)])

describe('a run', () => {
  test('starts at once and keeps the answer and what was printed', async () => {
    await put(one, 'now', { operation: 'answer', payload: { n: 7 } })
    const started = await one.admin('POST', '/jobs/now', { trigger: 'by ann' })
    expect(started.json).toEqual({
      ok: true,
      data: { jobId: 'now', runId: expect.stringMatching(/^run_/), status: 'started' },
    })
    const { runId } = started.json.data
    const found = await over(one, 'now', runId)
    expect(found).toMatchObject({
      runId,
      jobId: 'now',
      status: 'succeeded',
      trigger: 'by ann',
      scheduledFor: null,
      missed: 0,
      operation: 'answer',
      attempts: 1,
      error: null,
      resultTruncated: false,
    })
    expect(found.durationMs).toBeGreaterThanOrEqual(0)
    const { siteId } = await stack.context.sites.find('one.test')
    expect(found.result).toEqual({
      payload: { n: 7 },
      auth: null,
      operation: 'answer',
      requestId: found.requestId,
      site: { siteId, siteDomain: 'one.test' },
    })
    await vi.waitUntil(async () => {
      const { json } = await one.admin('GET', `/jobs/now/runs/${runId}`)
      return json.logs.length > 0
    }, PATIENCE)
    const { json } = await one.admin('GET', `/jobs/now/runs/${runId}`)
    expect(json.logs).toEqual([
      expect.objectContaining({ requestId: found.requestId, operation: 'answer', level: 'info' }),
    ])
    const logs = await one.admin('GET', `/logs?requestId=${found.requestId}`)
    expect(logs.json.items).toEqual(json.logs)
    const { lastRun } = (await one.admin('GET', '/jobs/now')).json
    expect(lastRun).toMatchObject({ runId, status: 'succeeded', trigger: 'by ann' })
    const usage = await one.admin('GET', '/usage?operation=answer')
    expect(usage.json.totals.calls).toBeGreaterThanOrEqual(1)
  })

  test('runs its operation, whatever answers that keeps', async () => {
    const lambdaResourceId = await one.putFunction('kept', 'export default () => Math.random()')
    const cache = { ttlSeconds: 3600 }
    await one.putOperation('kept', { lambdaResourceId, auth: { mode: 'public' }, cache })
    await one.synced()
    const username = 'cached@example.test'
    const token = await stack.dataToken('one.test', { user: username })
    const theirs = (await one.callAs(token, 'kept', null)).json.data
    for (const auth of [{ mode: 'system' }, { mode: 'user', username }]) {
      await put(one, 'kept', { operation: 'kept', auth })
      const results = [(await run(one, 'kept')).result, (await run(one, 'kept')).result]
      expect(new Set([...results, theirs]).size).toBe(3)
    }
    expect((await one.callAs(token, 'kept', null)).json.data).toBe(theirs)
  })

  test('that waits is carried out, also when its job was disabled since', async () => {
    await using idle = await startStack({ sites: ['waits.test'], works: false })
    const site = await RuntimeSite.open(idle, 'waits.test')
    await site.putOperation('mirror', { preset: { preset: 'echo' } })
    const schedule = { cron: '0 4 1 1 *' }
    await put(site, 'waits', { operation: 'mirror', payload: 'asked for', schedule })
    const { runId } = (await site.admin('POST', '/jobs/waits', {})).json.data
    await put(site, 'waits', { operation: 'mirror', payload: 'asked for', enabled: false })
    expect((await site.admin('GET', `/jobs/waits/runs/${runId}`)).json.status).toBe('queued')
    await using _worker = await startStack({ beside: idle })
    expect(await over(site, 'waits', runId)).toMatchObject({
      status: 'succeeded',
      result: 'asked for',
    })
  })

  test('is cut when its result is longer than 64 KiB', async () => {
    await put(one, 'big', { operation: 'big' })
    const found = await run(one, 'big')
    expect(found).toMatchObject({
      status: 'succeeded',
      resultTruncated: true,
      resultBytes: 120_002,
    })
    expect(found.result).toBe(`"${'ä'.repeat(32 * 1024 - 1)}`)
    const [listed] = (await one.admin('GET', '/jobs/big/runs')).json.items
    expect(listed).toMatchObject({ resultTruncated: true, resultBytes: 120_002 })
    expect(listed).not.toHaveProperty('result')
  })

  test.each([
    ['refuse', 'failed', { code: 'NotToday', message: 'closed' }],
    ['broken', 'failed', { code: 'OperationFailed', message: 'Operation "broken" failed' }],
    ['endless', 'timedOut', { code: 'OperationTimeout', message: expect.stringContaining('1000') }],
  ])('of "%s" has %s, once', async (operation, status, error) => {
    await put(one, operation, { operation })
    expect(await run(one, operation)).toMatchObject({ status, error, attempts: 1, result: null })
  })

  test('runs as a user who is as they are now', async () => {
    const username = 'worker@example.test'
    await stack.dataToken('one.test', { user: username })
    await put(one, 'theirs', {
      operation: 'answer',
      auth: { mode: 'user', username: 'Worker@Example.test' },
    })
    const first = await run(one, 'theirs')
    expect(first.result.auth).toEqual({ sub: expect.any(String), username, groups: [] })

    expect((await one.admin('POST', '/groups', { groupName: 'staff' })).status).toBe(200)
    await one.putOperation('answer', {
      lambdaResourceId: (await one.admin('GET', '/resources')).json.operations.find(
        (item: { operation: string }) => item.operation === 'answer',
      ).lambdaResourceId,
      auth: { mode: 'groups', groups: ['staff'] },
    })
    await one.synced()
    expect(await run(one, 'theirs')).toMatchObject({
      status: 'failed',
      error: { code: 'Forbidden' },
    })
    expect((await one.admin('POST', '/groups/staff/users', { username })).status).toBe(200)
    expect((await run(one, 'theirs')).result.auth).toMatchObject({ username, groups: ['staff'] })

    const nobody = 'nobody@example.test'
    await stack.dataToken('one.test', { user: nobody })
    await put(one, 'theirs', { operation: 'answer', auth: { mode: 'user', username: nobody } })
    await stack.inSite('one.test', ({ db, siteId }) =>
      db
        .deleteFrom('pool_user')
        .where('site_id', '=', siteId)
        .where('email', '=', nobody)
        .execute(),
    )
    const refused = await run(one, 'theirs')
    expect(refused).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: { code: 'UserNotFound' },
    })
    expect(refused.error.message).toContain('nobody@example.test')
    expect(await run(one, 'now')).toMatchObject({ status: 'succeeded' })
  })

  test('is one for all who ask under one Idempotency-Key', async () => {
    await put(one, 'once', { operation: 'answer' })
    const token = await stack.adminToken('one.test')
    const start = (body: object) =>
      stack.call('one.test', 'POST', '/admin/data/jobs/once', {
        token,
        body,
        headers: { 'idempotency-key': 'one-night' },
      })
    const answers = await Promise.all(Array.from({ length: 6 }, () => start({ trigger: 'x' })))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect((await start({ trigger: 'y' })).status).toBe(422)
    expect((await one.admin('GET', '/jobs/once/runs')).json.items).toHaveLength(1)
  })

  test('is one at a time: a request while it waits or runs gets the id of the running one', async () => {
    await put(one, 'raced', { operation: 'slow' })
    const start = () => one.admin('POST', '/jobs/raced', { trigger: 'x' })
    const answers = await Promise.all(Array.from({ length: 6 }, start))
    const [started, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    const { runId } = started?.json.data ?? {}
    const refused = answers.filter((answer) => answer !== started)
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 409, json: { error: { code: 'JobOverlap', runId } } })
      expect(['queued', 'running']).toContain(answer.json.error.runStatus)
      expect(answer.json.error.message).toContain(`Run "${runId}" of this job (x) is not over yet`)
    }
    expect(await over(one, 'raced', runId)).toMatchObject({ status: 'succeeded', attempts: 1 })
    const next = await start()
    expect(next).toMatchObject({ status: 200, json: { data: { status: 'started' } } })
    await over(one, 'raced', next.json.data.runId)
    expect((await one.admin('GET', '/jobs/raced/runs')).json.items).toHaveLength(2)
  })

  test.each([
    ['a trigger that is no text', { trigger: 1 }],
    ['an empty trigger', { trigger: '' }],
    ['a long trigger', { trigger: 'x'.repeat(129) }],
    ['the trigger of schedules', { trigger: 'schedule' }],
    ['an unknown field', { trigger: 'x', payload: 1 }],
  ])('is not started with %s', async (_what, body) => {
    expect(await one.admin('POST', '/jobs/now', body)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError' } },
    })
  })

  test('is listed in pages, newest first', async () => {
    await put(two, 'paged', { operation: 'answer' })
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.unshift((await run(two, 'paged')).runId)
    const first = (await two.admin('GET', '/jobs/paged/runs?limit=2')).json
    const second = (await two.admin('GET', `/jobs/paged/runs?limit=3&nextToken=${first.nextToken}`))
      .json
    const items = [...first.items, ...second.items]
    expect(items.map(({ runId }: { runId: string }) => runId)).toEqual(ids)
    expect(second.nextToken).toBeNull()
    expect(items[0]).toMatchObject({ status: 'succeeded', result: null, resultTruncated: false })
    const stolen = await one.admin('GET', `/jobs/now/runs?nextToken=${first.nextToken}`)
    expect(stolen).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
    expect(await two.admin('GET', '/jobs/paged/runs/run_none')).toMatchObject({
      status: 404,
      json: { error: { code: 'JobRunNotFound' } },
    })
  })

  test('is kept among the last hundred, and for thirty days', async () => {
    await put(two, 'kept', { operation: 'answer' })
    const old = new Date(Date.now() - 31 * 24 * 3_600_000)
    await stack.inSite('two.test', (tx) =>
      tx.db
        .insertInto('data_job_run')
        .values(
          Array.from({ length: 251 }, (_, at) => ({
            site_id: tx.siteId,
            run_id: `run_${at}`,
            job_id: 'kept',
            status:
              at === 0
                ? ('running' as const)
                : at % 2 === 1
                  ? ('skipped' as const)
                  : ('failed' as const),
            trigger: 'x',
            request_id: 'x',
            created_at: at < 70 ? old : new Date(),
          })),
        )
        .execute(),
    )
    const tick = { jobId: 'kept', scheduledFor: new Date(), missed: 0 }
    await stack.inSite('two.test', (tx) => stack.context.jobRuns.queueTicks(tx, [tick]))
    const rows = await stack.inSite('two.test', ({ db }) =>
      db
        .selectFrom('data_job_run')
        .select(['run_id', 'status'])
        .where('job_id', '=', 'kept')
        .orderBy('run_number')
        .execute(),
    )
    const count = (status: string) => rows.filter((row) => row.status === status).length
    expect([count('running'), count('skipped'), count('failed')]).toEqual([1, 91, 91])
    expect(rows[1]?.run_id).toBe('run_70')
  })
})
