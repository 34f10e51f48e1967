import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { asAdmin } from '#test/postgres.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Changes rows behind the service's back, as a crash or another version would have left them. */
const tamper = async (host: string, statement: string) => {
  const { siteId } = await stack.context.sites.find(host)
  await asAdmin((admin) => admin.unsafe(statement, [siteId]), stack.database.url)
  return siteId
}
const revisions = async (host: string): Promise<number[]> => {
  const { siteId } = await stack.context.sites.find(host)
  let found: number[] = []
  await asAdmin(async (admin) => {
    const rows = await admin<{ revision: number }[]>`
      select revision from site_revision where site_id = ${siteId} order by revision`
    found = rows.map(({ revision }) => revision)
  }, stack.database.url)
  return found
}
const published = async (domain: string): Promise<RuntimeSite> => {
  const site = await RuntimeSite.create(stack, domain)
  await site.publish('ping', 'export default () => "pong"')
  return site
}
const pong = { status: 200, json: { ok: true, data: 'pong' } }

describe('a site without a revision', () => {
  test('answers that it is being set up, and then heals', async () => {
    const site = await published('lost.test')
    await tamper('lost.test', 'delete from site_runtime where site_id = $1')
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'lost.test')
    const waiting = await there.call('ping')
    expect(waiting).toMatchObject({
      status: 503,
      json: {
        ok: false,
        error: { code: 'DataRuntimeProvisioning', retryable: true, status: 'provisioning' },
      },
    })
    expect(Number(waiting.headers['retry-after'])).toBeGreaterThan(0)
    await expect.poll(() => there.call('ping'), { timeout: 30_000 }).toMatchObject(pong)
    expect(await site.call('ping')).toMatchObject(pong)
  })

  test('whose revision another version wrote is repaired', async () => {
    await published('foreign.test')
    await tamper(
      'foreign.test',
      `update site_revision set document = '{"format":999}' where site_id = $1`,
    )
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'foreign.test')
    expect(await there.call('ping')).toMatchObject({
      status: 503,
      json: { error: { code: 'DataRuntimeProvisioning', status: 'repairing' } },
    })
    await expect.poll(() => there.call('ping'), { timeout: 30_000 }).toMatchObject(pong)
  })
})

describe('an operation on its way', () => {
  test('is said to be updating, never to be unknown', async () => {
    const site = await published('coming.test')
    // A change that is counted, and whose sync is not queued: as in the moment between the two.
    await tamper(
      'coming.test',
      `with change as (update site_runtime set requested = requested + 1, sync_status = 'queued' where site_id = $1)
       insert into data_operation (site_id, operation, preset, auth)
       values ($1, 'soon', '{"preset":"echo","resourceId":null}', '{"mode":"public"}')`,
    )
    expect(await site.call('soon')).toMatchObject({
      status: 503,
      json: { error: { code: 'DataRuntimeProvisioning', status: 'updating' } },
    })
    expect(await site.call('never')).toMatchObject({ status: 404 })
    expect(await site.call('ping')).toMatchObject(pong)
    await site.admin('POST', '/reconcile')
    await expect.poll(async () => (await site.call('soon')).status, { timeout: 30_000 }).toBe(200)
  })

  test('answers only with itself or with patience from its creation on', async () => {
    const site = await published('eager.test')
    for (let round = 0; round < 5; round += 1) {
      const name = `eager${round}`
      await site.putOperation(name, { preset: { preset: 'echo' }, auth: { mode: 'public' } })
      const statuses = new Set<number>()
      while (!statuses.has(200)) statuses.add((await site.call(name, round)).status)
      statuses.delete(503)
      expect([...statuses]).toEqual([200])
    }
  })
})

describe('a restart', () => {
  test('serves the revision that is there, without a sync', async () => {
    await published('again.test')
    const before = await revisions('again.test')
    await using beside = await startStack({ beside: stack })
    const there = await RuntimeSite.open(beside, 'again.test')
    expect(await there.call('ping')).toMatchObject(pong)
    expect(await revisions('again.test')).toEqual(before)
  })

  test('after a crash in the middle of a sync finishes it', async () => {
    const site = await published('crashed.test')
    const siteId = await tamper(
      'crashed.test',
      `update site_runtime set requested = requested + 1, sync_status = 'running' where site_id = $1`,
    )
    expect(await site.call('ping')).toMatchObject(pong)
    const { signal } = new AbortController()
    // What the queue does with the job of a worker that died: it runs it again, here twice at once.
    await Promise.all([
      stack.context.permissionSync.run(siteId, signal),
      stack.context.permissionSync.run(siteId, signal),
    ])
    const after = await revisions('crashed.test')
    await stack.context.permissionSync.run(siteId, signal)
    expect(await revisions('crashed.test')).toEqual(after)
    const listed = await site.admin('GET', '/resources')
    expect(listed.json.permissionsSync).toEqual({ status: 'succeeded' })
  })
})

describe('changes', () => {
  test('that come together are one revision or few, with all of them in it', async () => {
    const site = await published('busy.test')
    const before = await revisions('busy.test')
    const names = Array.from({ length: 12 }, (_, at) => `op${at}`)
    await Promise.all(
      names.map((name) =>
        site.putOperation(name, { preset: { preset: 'echo' }, auth: { mode: 'public' } }),
      ),
    )
    await site.synced()
    for (const name of names) {
      await expect
        .poll(async () => (await site.call(name, name)).json)
        .toEqual({
          ok: true,
          data: name,
        })
    }
    const made = Math.max(...(await revisions('busy.test'))) - Math.max(...before)
    expect(made).toBeLessThan(names.length)
  })

  test('leave one revision, without what was deleted', async () => {
    const site = await published('many.test')
    const code = 'export default () => 1'
    await site.putFunction('reader', code, { environment: ['GONE', 'KEPT'] })
    for (const value of ['first', 'second', null]) {
      const variables = { GONE: { value }, KEPT: { value: 'kept' } }
      const put = await site.admin('PUT', '/env-vars', { variables })
      expect(put.status, put.text).toBe(200)
      await site.synced()
    }
    expect(await revisions('many.test')).toHaveLength(1)
    const held = await stack.inSite('many.test', (tx) =>
      tx.db
        .selectFrom('site_revision')
        .select('document')
        .where('site_id', '=', tx.siteId)
        .execute(),
    )
    expect(held).toMatchObject([{ document: { env: [{ name: 'KEPT' }] } }])
    expect(await site.call('ping')).toMatchObject(pong)
  })

  test('of code while calls run break no call', async () => {
    const site = await published('live.test')
    const functionId = await site.putFunction('version', 'export default () => 0')
    await site.putOperation('version', { lambdaResourceId: functionId, auth: { mode: 'public' } })
    await site.synced()
    let running = true
    const seen: number[] = []
    const callers = Array.from({ length: 4 }, async () => {
      while (running) {
        const answer = await site.call('version')
        expect(answer).toMatchObject({ status: 200 })
        seen.push(answer.json.data)
      }
    })
    for (const version of [1, 2, 3]) {
      await site.admin('PATCH', `/resources/${functionId}`, {
        config: { code: `export default () => ${version}` },
      })
      await site.putOperation('version', { lambdaResourceId: functionId, auth: { mode: 'public' } })
      await expect.poll(() => seen.at(-1), { timeout: 30_000 }).toBe(version)
    }
    running = false
    await Promise.all(callers)
    expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3]))
  })
})
