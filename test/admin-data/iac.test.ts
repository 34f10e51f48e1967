import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { SiteTx } from '#platform/postgres/database.ts'
import { parseOperation } from '#runtime/operations/model.ts'
import type { Answer } from '#test/http-client.ts'
import { type ChangeSeen, carryOut, changesOf, ended, heldBack } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SECRET = 'planted-secret-5f2c'
const KEY = { name: 'id', type: 'S' }

/** Every section, each item linked to another. */
const WHOLE = {
  envVars: [
    { name: 'API_KEY', value: SECRET, secret: true },
    { name: 'API_URL', value: 'https://api.example', secret: false },
  ],
  groups: [{ groupName: 'editors', description: 'They edit' }],
  resources: [
    {
      type: 'lambdaFunction',
      name: 'say',
      config: {
        code: 'export default ({ payload }) => payload ?? null',
        environment: ['API_KEY'],
        resources: [{ resource: 'notes', access: 'readWrite' }],
      },
    },
    { type: 'ddbTable', name: 'notes', config: { partitionKey: KEY } },
    { type: 's3Bucket', name: 'files' },
  ],
  operations: [
    { operation: 'say', lambdaResource: 'say', auth: { mode: 'groups', groups: ['editors'] } },
    { operation: 'note', preset: 'ddb.get', resource: 'notes', cache: { ttlSeconds: 5 } },
    { operation: 'ping', preset: 'echo', auth: { mode: 'public' } },
  ],
  jobs: [
    { name: 'nightly', operation: 'say', payload: { a: [1] }, schedule: { cron: '5 4 * * *' } },
  ],
}

let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const newSite = (domain: string) => RuntimeSite.create(stack, domain)
const exported = async (site: RuntimeSite) => (await site.admin('GET', '/iac/export')).json
const emptied = { envVars: [], groups: [], resources: [], operations: [], jobs: [] }

describe('a definition of every section', () => {
  let applied: Answer
  beforeAll(async () => {
    applied = await carryOut(one, 'apply', WHOLE)
  })

  test('is carried out in an order in which every link holds', async () => {
    expect(applied.json).toMatchObject({
      status: 'succeeded',
      mode: 'apply',
      definitionSource: 'inline',
      error: null,
      summary: { created: 10, updated: 0, deleted: 0, unchanged: 0, failed: 0 },
    })
    expect(changesOf(applied)).toEqual([
      'create envVars API_KEY',
      'create envVars API_URL',
      'create groups editors',
      'create resources files',
      'create resources notes',
      'create resources say',
      'create operations note',
      'create operations ping',
      'create operations say',
      'create jobs nightly',
    ])
    await one.synced()
    expect((await one.call('ping', 7)).json).toEqual({ ok: true, data: 7 })
  })

  test('comes back as it was, without its secret', async () => {
    const state = await exported(one)
    expect(state.envVars).toEqual([
      { name: 'API_KEY', secret: true },
      { name: 'API_URL', value: 'https://api.example', secret: false },
    ])
    expect(state.resources.map(({ name }: { name: string }) => name)).toEqual([
      'files',
      'notes',
      'say',
    ])
    expect(state.resources[2].config.resources).toEqual([
      { resource: 'notes', access: 'readWrite' },
    ])
    expect(state.operations[0]).toMatchObject({ preset: 'ddb.get', resource: 'notes' })
    expect(state.jobs[0]).toMatchObject({ jobId: 'nightly', payload: { a: [1] } })
    expect(JSON.stringify(state)).not.toContain(SECRET)
  })

  test('changes nothing when what was exported is applied again', async () => {
    const again = await carryOut(one, 'replace', await exported(one))
    expect(again.json).toMatchObject({
      status: 'succeeded',
      summary: { created: 0, updated: 0, deleted: 0, unchanged: 10, failed: 0 },
    })
  })

  test('makes another site the same, except for its secrets', async () => {
    const state = await exported(one)
    const refused = await carryOut(two, 'apply', state)
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'envVars[0].value' }] } },
    })
    const [, url] = state.envVars
    const given = [{ name: 'API_KEY', secret: true, value: 'another' }, url]
    const copied = await carryOut(two, 'apply', { ...state, envVars: given })
    expect(copied.json).toMatchObject({ status: 'succeeded', summary: { created: 10 } })
    expect(await exported(two)).toEqual(state)
  })

  test('sees that a secret is another, without showing it', async () => {
    const envVars = [{ name: 'API_KEY', value: `${SECRET}-2` }]
    expect((await one.admin('GET', '/env-vars')).json.items[0]).toMatchObject({ secret: true })
    const planned = await carryOut(one, 'plan', { envVars })
    expect(planned.json.summary.changes).toContainEqual({
      section: 'envVars',
      name: 'API_KEY',
      action: 'update',
      status: 'planned',
      fields: ['value'],
    })
    expect(planned.text).not.toContain(SECRET)
  })
})

describe('the export', () => {
  test('of what was carried out is the definition, with its defaults said', async () => {
    const site = await newSite('any.test')
    await fc.assert(
      fc.asyncProperty(definitions, async ({ sent, canonical }) => {
        const job = await carryOut(site, 'replace', sent, { confirm: true })
        expect(job.json).toMatchObject({ status: 'succeeded', error: null })
        const state = await exported(site)
        expect(state).toEqual(canonical)
        const again = await carryOut(site, 'replace', state)
        expect(again.json.summary).toMatchObject({ created: 0, updated: 0, deleted: 0, failed: 0 })
      }),
      { numRuns: 6 },
    )
  })
})

describe('a plan', () => {
  test('shows the whole difference and changes nothing', async () => {
    const site = await newSite('plan.test')
    await carryOut(site, 'apply', { groups: [{ groupName: 'old' }] })
    const before = await exported(site)
    const planned = await carryOut(site, 'plan', {
      groups: [{ groupName: 'new' }],
      operations: [{ operation: 'ping', preset: 'echo' }],
    })
    expect(planned.json).toMatchObject({
      status: 'succeeded',
      summary: { created: 2, deleted: 1, failed: 0 },
    })
    const statuses = planned.json.summary.changes.map(({ status }: ChangeSeen) => status)
    expect(statuses).toEqual(['planned', 'planned', 'planned'])
    expect(await exported(site)).toEqual(before)
  })
})

describe('replacing', () => {
  test('without a confirmation is refused with all that it would delete, and deletes nothing', async () => {
    const site = await newSite('gate.test')
    await carryOut(site, 'apply', WHOLE)
    const before = await exported(site)
    const refused = await carryOut(site, 'replace', emptied)
    expect(refused).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'ConfirmationRequired',
          message: expect.stringContaining('jobs "nightly"'),
        },
      },
    })
    expect(refused.json.error.deletions).toHaveLength(10)
    expect(await exported(site)).toEqual(before)
    expect((await site.admin('GET', '/iac/jobs')).json.items).toHaveLength(1)
  })

  test('looks again when its turn comes: what came since is not deleted without consent', async () => {
    const site = await newSite('late.test')
    await using held = await heldBack(stack, 'late.test', runningJob)
    const sent = await site.admin('POST', '/iac/jobs', {
      mode: 'replace',
      definition: { groups: [{ groupName: 'mine' }] },
    })
    expect(sent.status).toBe(200)
    await site.admin('POST', '/groups', { groupName: 'theirs' })
    await held.release()
    const job = await ended(site, sent.json.jobId)
    expect(job.json).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/ConfirmationRequired.*groups "theirs"/),
      summary: { changes: [] },
    })
    const groups = (await exported(site)).groups.map(
      (item: { groupName: string }) => item.groupName,
    )
    expect(groups).toEqual(['theirs'])
  })

  test('agrees to what was shown: what came since is reported and stays, with all that would go', async () => {
    const site = await newSite('agreed.test')
    await carryOut(site, 'apply', { groups: [{ groupName: 'a' }, { groupName: 'b' }] })
    const definition = { groups: [{ groupName: 'b' }] }
    const shown = (await carryOut(site, 'replace', definition)).json.error.deletions
    expect(shown).toEqual([{ section: 'groups', name: 'a' }])
    await site.admin('POST', '/groups', { groupName: 'theirs' })
    const refused = await carryOut(site, 'replace', definition, { confirm: shown })
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { code: 'ConfirmationRequired' } },
    })
    expect(refused.json.error.message).toMatch(/^This would also delete groups "theirs", which/)
    const all = [...shown, { section: 'groups', name: 'theirs' }]
    expect(refused.json.error.deletions).toEqual(expect.arrayContaining(all))
    const none = await carryOut(site, 'replace', definition, { confirm: [] })
    expect(none.status).toBe(400)
    const wrong = await carryOut(site, 'replace', definition, { confirm: ['groups a'] })
    expect(wrong.json.error.message).toContain('"deletions" that you agree to')
    const replaced = await carryOut(site, 'replace', definition, { confirm: all })
    expect(replaced.json).toMatchObject({ status: 'succeeded', summary: { deleted: 2 } })
  })

  test('agrees to what is there when it is sent: what comes before its turn fails it', async () => {
    const site = await newSite('turn.test')
    await carryOut(site, 'apply', { groups: [{ groupName: 'a' }, { groupName: 'b' }] })
    await using held = await heldBack(stack, 'turn.test', runningJob)
    const sent = await site.admin('POST', '/iac/jobs', {
      mode: 'replace',
      definition: { groups: [{ groupName: 'b' }] },
      confirm: true,
    })
    expect(sent.status, sent.text).toBe(200)
    await site.admin('POST', '/groups', { groupName: 'theirs' })
    await held.release()
    const job = await ended(site, sent.json.jobId)
    expect(job.json).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^ConfirmationRequired: This would also delete groups "theirs"/),
      summary: { changes: [] },
    })
    expect((await exported(site)).groups).toHaveLength(3)
  })

  test('with a confirmation leaves what is named, in an order in which every link holds', async () => {
    const site = await newSite('replace.test')
    await carryOut(site, 'apply', WHOLE)
    const replaced = await carryOut(site, 'replace', emptied, { confirm: true })
    expect(replaced.json).toMatchObject({ status: 'succeeded', summary: { deleted: 10 } })
    expect(changesOf(replaced)).toEqual([
      'delete jobs nightly',
      'delete operations say',
      'delete operations ping',
      'delete operations note',
      'delete resources say',
      'delete resources notes',
      'delete resources files',
      'delete groups editors',
      'delete envVars API_URL',
      'delete envVars API_KEY',
    ])
    expect(await exported(site)).toEqual(emptied)
  })

  test('leaves a section alone that is absent, and what it depends on', async () => {
    const site = await newSite('absent.test')
    await carryOut(site, 'apply', WHOLE)
    const refused = await carryOut(site, 'replace', { resources: [] }, { confirm: true })
    expect(refused.status).toBe(400)
    expect(refused.json.error.message).toContain('"notes" would be deleted')
    const replaced = await carryOut(site, 'replace', { jobs: [] }, { confirm: true })
    expect(replaced.json).toMatchObject({ status: 'succeeded', summary: { deleted: 1 } })
    expect((await exported(site)).operations).toHaveLength(3)
  })
})

describe('a table of which a definition says nothing but the name', () => {
  const named = (name: string, type = 'ddbTable') => ({ resources: [{ type, name }] })

  test('is made when it is new, and left as it is when it is there', async () => {
    const site = await RuntimeSite.create(stack, 'bare.test')
    const own = { partitionKey: { name: 'n', type: 'N' }, ttlAttribute: 'end' }
    await site.admin('POST', '/resources', { type: 'ddbTable', name: 'there', config: own })
    const both = { resources: [...named('fresh').resources, ...named('there').resources] }
    const done = await carryOut(site, 'replace', both)
    expect(done.json.status).toBe('succeeded')
    expect(changesOf(done)).toEqual(['create resources fresh', 'none resources there'])
    expect((await site.admin('GET', '/iac/export')).json.resources).toEqual([
      {
        type: 'ddbTable',
        name: 'fresh',
        config: { partitionKey: { name: 'id', type: 'S' } },
      },
      { type: 'ddbTable', name: 'there', config: own },
    ])
  })

  test('is kept so in a profile, and is refused where the name is of something else', async () => {
    const site = await RuntimeSite.create(stack, 'bare-two.test')
    await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
    const kept = await site.admin('PUT', '/iac/definitions/main', { definition: named('files') })
    expect(kept).toMatchObject({ status: 200, json: { definition: named('files') } })
    const refused = await site.admin('POST', '/iac/jobs', {
      mode: 'apply',
      definitionProfileName: 'main',
    })
    expect(refused.json.error.details).toEqual([
      { field: 'resources[0].type', message: expect.stringContaining('is a s3Bucket already') },
    ])
  })
})

describe('a job', () => {
  test('whose step fails stops there, says so, and publishes what was done', async () => {
    const site = await newSite('fails.test')
    await insertGroups('fails.test', 997)
    const held = await heldBack(stack, 'fails.test', async (tx) => {
      await tx.db
        .insertInto('data_group')
        .values({ site_id: tx.siteId, group_name: 'a', description: '', created_at: new Date() })
        .execute()
    })
    const definition = {
      groups: [{ groupName: 'a' }, { groupName: 'b' }, { groupName: 'c' }],
      operations: [{ operation: 'ping', preset: 'echo' }],
    }
    const { jobId } = (await site.admin('POST', '/iac/jobs', { mode: 'apply', definition })).json
    // At its first step, when it was planned long since.
    await waiters(1)
    await insertGroups('fails.test', 2, 'meanwhile')
    await held.release()
    const job = await ended(site, jobId)
    expect(job.json).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^groups "b": .*at most 1000 groups/),
      summary: {
        created: 1,
        failed: 1,
        changes: [
          { name: 'a', status: 'succeeded' },
          { name: 'b', status: 'failed', error: expect.stringContaining('at most 1000') },
          { name: 'c', status: 'skipped' },
          { name: 'ping', status: 'skipped' },
        ],
      },
    })
    expect((await site.admin('GET', '/groups?limit=1')).json.items).toMatchObject([
      { groupName: 'a' },
    ])
    await site.synced()
  })

  test('that waits is cancelled at once and never starts', async () => {
    const site = await newSite('cancel.test')
    const groups = Array.from({ length: 200 }, (_, at) => ({ groupName: `long-${at}` }))
    const send = async (definition: object): Promise<string> =>
      (await site.admin('POST', '/iac/jobs', { mode: 'apply', definition })).json.jobId
    const first = await send({ groups })
    const second = await send({ groups: [{ groupName: 'never' }] })
    const cancelled = await site.admin('POST', `/iac/jobs/${second}/cancel`)
    expect(cancelled.json).toMatchObject({
      status: 'cancelled',
      startedAt: null,
      summary: { changes: [] },
    })
    const job = await ended(site, first)
    expect(job.json).toMatchObject({ status: 'succeeded', summary: { created: 200 } })
    const names = (await exported(site)).groups.map((item: { groupName: string }) => item.groupName)
    expect(names).not.toContain('never')
    const again = await site.admin('POST', `/iac/jobs/${first}/cancel`)
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'IacJobFinished' } } })
  })

  test('that runs stops before its next step when it is cancelled', async () => {
    const site = await newSite('stop.test')
    const groups = Array.from({ length: 60 }, (_, at) => ({ groupName: `g${at}` }))
    let holder = 0
    const held = await heldBack(stack, 'stop.test', async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.db)
      holder = rows[0]?.pid ?? 0
      await tx.db
        .insertInto('data_group')
        .values({ site_id: tx.siteId, group_name: 'g5', description: '', created_at: new Date() })
        .execute()
    })
    const definition = { groups }
    const { jobId } = (await site.admin('POST', '/iac/jobs', { mode: 'apply', definition })).json
    const step = await blockedBy(holder)
    const cancelling = site.admin('POST', `/iac/jobs/${jobId}/cancel`)
    await blockedBy(step)
    await held.release()
    const cancelled = (await cancelling).json
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      permissionsSync: { status: expect.any(String) },
      summary: { created: expect.any(Number), failed: 0 },
    })
    // Both wait for the same lock when the sixth step is done, and a few steps may have it first.
    const { created } = cancelled.summary
    expect(created).toBeGreaterThanOrEqual(6)
    expect(created).toBeLessThan(60)
    const statuses = (await ended(site, jobId)).json.summary.changes.map(
      ({ status }: ChangeSeen) => status,
    )
    expect(statuses).toEqual([
      ...Array<string>(created).fill('succeeded'),
      ...Array<string>(60 - created).fill('skipped'),
    ])
    expect((await exported(site)).groups).toHaveLength(created)
  })

  test('keeps its sealed definition only until it ends', async () => {
    const sealed = await stack.inSite('one.test', (tx) =>
      tx.db
        .selectFrom('iac_job')
        .select(['job_id', 'sealed'])
        .where('site_id', '=', tx.siteId)
        .execute(),
    )
    expect(sealed.length).toBeGreaterThan(2)
    expect(sealed.filter((row) => row.sealed !== null)).toEqual([])
  })

  test('is made once for one Idempotency-Key', async () => {
    const token = await stack.adminToken('one.test')
    const send = (name: string) =>
      stack.call('one.test', 'POST', '/admin/data/iac/jobs', {
        token,
        headers: { 'idempotency-key': 'once' },
        body: { mode: 'apply', definition: { groups: [{ groupName: name }] } },
      })
    const [first, second] = [await send('once'), await send('once')]
    expect(second.json).toEqual(first.json)
    expect((await send('other')).json.error.code).toBe('IdempotencyKeyReused')
    await ended(one, first.json.jobId)
  })

  test('of a site runs after the one before it, whichever replica takes it', async () => {
    const site = await newSite('order.test')
    await using replica = await startStack({ beside: stack })
    const beside = await RuntimeSite.open(replica, 'order.test')
    const describe = (description: string) => ({
      mode: 'apply',
      definition: {
        groups: Array.from({ length: 20 }, (_, at) => ({ groupName: `g${at}`, description })),
      },
    })
    const sent = await Promise.all([
      site.admin('POST', '/iac/jobs', describe('x')),
      beside.admin('POST', '/iac/jobs', describe('y')),
      site.admin('POST', '/iac/jobs', describe('z')),
    ])
    const jobs = await Promise.all(sent.map(({ json }) => ended(site, json.jobId)))
    expect(jobs.map(({ json }) => json.status)).toEqual(Array(3).fill('succeeded'))
    const inOrder = jobs
      .map(({ json }) => json)
      .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    expect(inOrder.map(({ summary }) => summary.created)).toEqual([20, 0, 0])
    const times = inOrder.flatMap(({ startedAt, finishedAt }) => [
      Date.parse(startedAt),
      Date.parse(finishedAt),
    ])
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect((await site.admin('GET', '/iac/jobs?limit=2')).json.items).toHaveLength(2)
  })
})

describe('a name that something else takes over', () => {
  const KEPT =
    'export default async (input, { bucket }) => bucket("shelf").putObject({ key: "a", body: "b" })'
  const READ = 'export default (input, { table }) => table("shelf").put({ item: { id: "a" } })'
  const holding = (type: string, code: string) => ({
    resources: [
      { type, name: 'shelf' },
      {
        type: 'lambdaFunction',
        name: 'clerk',
        config: { code, resources: [{ resource: 'shelf', access: 'write' }] },
      },
    ],
    operations: [{ operation: 'clerk', lambdaResource: 'clerk', auth: { mode: 'public' } }],
  })

  test('is freed and used in one job, and its dependents follow', async () => {
    const site = await newSite('displaced.test')
    await carryOut(site, 'apply', holding('ddbTable', READ))
    await site.synced()
    expect((await site.call('clerk')).json.data).toEqual({ ok: true })
    const next = holding('s3Bucket', KEPT)
    const applied = await carryOut(site, 'apply', next)
    expect(applied.json.error.details).toMatchObject([
      { field: 'resources[0].type', message: expect.stringMatching(/by mode "replace"$/) },
    ])
    const unconfirmed = await carryOut(site, 'replace', next)
    expect(unconfirmed.json.error).toMatchObject({
      code: 'ConfirmationRequired',
      deletions: [{ section: 'resources', name: 'shelf' }],
    })
    const replaced = await carryOut(site, 'replace', next, { confirm: true })
    expect(replaced.json.status, replaced.text).toBe('succeeded')
    expect(changesOf(replaced)).toEqual([
      'create resources shelf',
      'update resources clerk',
      'none operations clerk',
      'delete resources shelf',
    ])
    const { resources } = await exported(site)
    expect(resources.map((item: { type: string; name: string }) => [item.type, item.name])).toEqual(
      [
        ['lambdaFunction', 'clerk'],
        ['s3Bucket', 'shelf'],
      ],
    )
    await site.synced()
    expect((await site.call('clerk')).json.data).toMatchObject({ ok: true, key: 'a' })
    const again = await carryOut(site, 'replace', next)
    expect(again.json.summary).toMatchObject({ created: 0, updated: 0, deleted: 0 })
  })

  test('is bound again also where its dependents read the same', async () => {
    const site = await newSite('displaced-twice.test')
    const code = 'export default () => 1'
    await carryOut(site, 'apply', holding('ddbTable', code))
    const next = holding('s3Bucket', code)
    const replaced = await carryOut(site, 'replace', next, { confirm: true })
    expect(changesOf(replaced)).toContain('update resources clerk')
    expect(replaced.json.status, replaced.text).toBe('succeeded')
  })
})

describe('a full site', () => {
  const HELD = { groups: 1000, resources: 500, operations: 500, envVars: 200 }
  const named = (count: number) => Array.from({ length: count }, (_, at) => `full-${at}`)
  const variable = (name: string) => ({ name: name.replace('-', '_'), value: 'x'.repeat(1000) })
  const bucket = (name: string) => ({ type: 's3Bucket', name, config: {} })
  const group = (name: string) => ({ groupName: name })
  const echo = (operation: string) => ({ operation, preset: 'echo' })

  async function fill(site: RuntimeSite): Promise<void> {
    const variables = Object.fromEntries(
      named(HELD.envVars).map((name) => [variable(name).name, { value: variable(name).value }]),
    )
    expect((await site.admin('PUT', '/env-vars', { variables })).status).toBe(200)
    await stack.inSite(site.host, async ({ db, siteId }) => {
      await sql`
        insert into data_group (site_id, group_name, description, created_at)
        select ${siteId}, 'full-' || at, '', now() from generate_series(0, 999) at`.execute(db)
      await sql`
        insert into data_resource (site_id, resource_id, type, name, config)
        select ${siteId}, 'res_full' || at, 's3Bucket', 'full-' || at, '{}'
        from generate_series(0, 499) at`.execute(db)
      await sql`
        insert into data_operation (site_id, operation, preset, auth)
        select ${siteId}, 'full-' || at, '{"preset":"echo","resourceId":null}', '{"mode":"authenticated"}'
        from generate_series(0, 499) at`.execute(db)
    })
  }

  test('exchanges what it holds in one job, and takes nothing beyond it', async () => {
    const site = await newSite('full.test')
    await fill(site)
    for (const more of [
      { groups: [group('more')] },
      { resources: [bucket('more')] },
      { operations: [echo('more')] },
      { envVars: [variable('more')] },
    ]) {
      const refused = await carryOut(site, 'apply', more)
      expect(refused.status).toBe(400)
      expect(refused.text).toMatch(/at most (?:1000|500|200) (?:have room|variables)/)
    }
    const exchanged = (count: number) => [...named(count - 2), 'new-0', 'new-1']
    const next = {
      groups: exchanged(HELD.groups).map(group),
      resources: exchanged(HELD.resources).map(bucket),
      operations: exchanged(HELD.operations).map(echo),
      envVars: exchanged(HELD.envVars).map(variable),
    }
    const job = await carryOut(site, 'replace', next, { confirm: true })
    expect(job.json.status, JSON.stringify(job.json.error)).toBe('succeeded')
    expect(job.json.summary).toMatchObject({ created: 8, updated: 0, deleted: 8 })
    const state = await exported(site)
    for (const [section, count] of Object.entries(HELD)) expect(state[section]).toHaveLength(count)
  })
})

describe('an operation for groups', () => {
  test('is neither defined nor bound before there is one', async () => {
    const site = await newSite('groups-later.test')
    const auth = { mode: 'groups', groups: ['later'] }
    const bind = () =>
      site.admin('POST', '/operations', { operation: 'bound', preset: { preset: 'echo' }, auth })
    const operations = [{ operation: 'defined', preset: 'echo', auth }]
    expect(await bind()).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', details: [{ field: 'auth.groups[0]' }] } },
    })
    expect(await carryOut(site, 'apply', { operations })).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'operations[0].auth.groups[0]' }] } },
    })
    const both = { groups: [{ groupName: 'later' }], operations }
    expect((await carryOut(site, 'apply', both)).json.status).toBe('succeeded')
    expect((await bind()).status).toBe(200)
    await site.synced()
    const token = await stack.dataToken(site.host, { groups: ['later'] })
    expect((await site.callAs(token, 'defined', 1)).json.data).toBe(1)
  })

  test('and the deletion of its group never both succeed', async () => {
    const site = await newSite('groups-race.test')
    const auth = (group: string) => ({ mode: 'groups', groups: ['also', group] })
    await site.putGroups('also')
    let bound = 0
    for (let round = 0; round < 40; round += 1) {
      const group = `race-${round}`
      await site.putGroups(group)
      const operation = { operation: group, preset: { preset: 'echo' }, auth: auth(group) }
      const [bind, deletion] = await Promise.all([
        site.admin('POST', '/operations', operation),
        site.admin('DELETE', `/groups/${group}`),
      ])
      const outcome = [bind.status, deletion.status]
      expect(
        [
          [200, 409],
          [400, 200],
        ],
        `${bind.text} ${deletion.text}`,
      ).toContainEqual(outcome)
      bound += bind.status === 200 ? 1 : 0
    }
    const { groups, operations } = await exported(site)
    expect(groups).toHaveLength(bound + 1)
    expect(operations).toHaveLength(bound)
  }, 60_000)

  /** Begins a change of the site, and commits it when `until` has resolved. */
  async function begun(
    host: string,
    until: Promise<void>,
    change: (tx: SiteTx) => Promise<unknown>,
  ) {
    const started = Promise.withResolvers<void>()
    const done = stack.inSite(host, async (tx) => {
      await change(tx)
      started.resolve()
      await until
    })
    await Promise.race([started.promise, done])
    return { done }
  }

  test('is refused while its group is being deleted, and keeps it while it is being bound', async () => {
    const site = await newSite('groups-held.test')
    await site.putGroups('going', 'staying')
    const binding = (groupName: string) => ({
      operation: groupName,
      preset: { preset: 'echo' },
      auth: { mode: 'groups' as const, groups: [groupName] },
    })
    const commit = Promise.withResolvers<void>()
    const deletion = await begun(site.host, commit.promise, (tx) =>
      tx.db
        .deleteFrom('data_group')
        .where('site_id', '=', tx.siteId)
        .where('group_name', '=', 'going')
        .execute(),
    )
    const late = site.admin('POST', '/operations', binding('going'))
    await waiters(1)
    commit.resolve()
    await deletion.done
    expect((await late).status).toBe(400)

    const bound = Promise.withResolvers<void>()
    const operation = await begun(site.host, bound.promise, (tx) =>
      stack.context.operations.write(tx, parseOperation(binding('staying')), {
        audit: async () => {},
      }),
    )
    const refused = site.admin('DELETE', '/groups/staying')
    await waiters(1)
    bound.resolve()
    await operation.done
    expect(await refused).toMatchObject({ status: 409, json: { error: { code: 'ResourceInUse' } } })
  })

  test('keeps its group from being deleted, by the route and by a definition', async () => {
    const site = await newSite('groups-stay.test')
    await site.admin('POST', '/groups', { groupName: 'staff' })
    const auth = { mode: 'groups', groups: ['staff'] }
    await site.putOperation('bound', { preset: { preset: 'echo' }, auth })
    expect((await site.admin('DELETE', '/groups/staff')).status).toBe(409)
    const replaced = await carryOut(site, 'replace', { groups: [] }, { confirm: true })
    expect(replaced).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    const operations = [{ operation: 'bound', preset: 'echo', auth, cache: { ttlSeconds: 1 } }]
    const both = await carryOut(site, 'replace', { groups: [], operations }, { confirm: true })
    expect(both.json.error.details).toMatchObject([{ field: 'operations[0].auth.groups[0]' }])
  })
})

describe('a profile', () => {
  test('keeps a definition by name, without the values of its secrets', async () => {
    const kept = await one.admin('PUT', '/iac/definitions/main', { definition: WHOLE })
    expect(kept.status).toBe(200)
    expect(kept.json.definition.envVars).toEqual([
      { name: 'API_KEY', secret: true },
      { name: 'API_URL', value: 'https://api.example', secret: false },
    ])
    expect(kept.json.definition.operations).toEqual(WHOLE.operations)
    const read = await one.admin('GET', '/iac/definitions/main')
    expect(read.json).toEqual(kept.json)
    expect(read.text).not.toContain(SECRET)
    const again = await one.admin('PUT', '/iac/definitions/main', { definition: {} })
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'DefinitionExists' } } })
    const overwritten = { definition: { groups: [] }, overwriteDefinition: true }
    expect((await one.admin('PUT', '/iac/definitions/main', overwritten)).status).toBe(200)
    const list = await one.admin('GET', '/iac/definitions')
    expect(list.json).toMatchObject({ items: [{ profileName: 'main' }], nextToken: null })
  })

  test('keeps no value of what the site has as a secret, and leaves it one', async () => {
    const site = await newSite('kept-secret.test')
    const variables = { WAS_SECRET: { value: 'x', secret: true } }
    await site.admin('PUT', '/env-vars', { variables })
    const envVars = [
      { name: 'WAS_SECRET', value: SECRET },
      { name: 'OPEN', value: 'open' },
    ]
    const named = { definitionProfileName: 'kept', persistDefinition: true }
    const job = await carryOut(site, 'apply', { envVars }, named)
    expect(job.json).toMatchObject({ status: 'succeeded', summary: { created: 1, updated: 1 } })
    const { items } = (await site.admin('GET', '/env-vars')).json
    expect(items).toMatchObject([
      { name: 'OPEN', secret: false, value: 'open' },
      { name: 'WAS_SECRET', secret: true },
    ])
    const kept = await site.admin('GET', '/iac/definitions/kept')
    expect(kept.json.definition.envVars).toEqual([
      { name: 'WAS_SECRET' },
      { name: 'OPEN', value: 'open' },
    ])
  })

  test('is saved with a job, and carried out by another', async () => {
    const site = await newSite('profile.test')
    const definition = {
      envVars: [{ name: 'TOKEN', value: SECRET, secret: true }],
      groups: [{ groupName: 'members' }],
    }
    const names = { definitionProfileName: 'base', persistDefinition: true }
    const sent = await site.admin('POST', '/iac/jobs', { mode: 'apply', definition, ...names })
    expect(sent.json).toMatchObject({
      status: 'queued',
      definitionSource: 'inline',
      definitionPersisted: true,
    })
    await ended(site, sent.json.jobId)
    await site.admin('DELETE', '/groups/members')
    const again = await site.admin('POST', '/iac/jobs', {
      mode: 'apply',
      definitionProfileName: 'base',
    })
    expect(again.json).toMatchObject({ definitionSource: 'profile', definitionPersisted: false })
    const job = await ended(site, again.json.jobId)
    expect(job.json).toMatchObject({ status: 'succeeded', summary: { created: 1, unchanged: 1 } })
    const stored = await stack.inSite('profile.test', (tx) =>
      tx.db
        .selectFrom('iac_definition')
        .select('definition')
        .where('site_id', '=', tx.siteId)
        .execute(),
    )
    expect(JSON.stringify(stored)).not.toContain(SECRET)
  })

  test('of another site is not there', async () => {
    for (const [method, path] of [
      ['GET', '/iac/definitions/main'],
      ['DELETE', '/iac/definitions/main'],
    ] as const) {
      const answer = await two.admin(method, path)
      expect(answer).toMatchObject({ status: 404, json: { error: { code: 'DefinitionNotFound' } } })
    }
    const { items } = (await one.admin('GET', '/iac/jobs')).json
    for (const path of [`/iac/jobs/${items[0].jobId}`, '/iac/jobs/x', '/iac/jobs/iac_%00']) {
      const answer = await two.admin('GET', path)
      expect(answer.status, path).toBeGreaterThanOrEqual(400)
      expect(answer.status, path).toBeLessThan(500)
    }
    expect((await two.admin('POST', `/iac/jobs/${items[0].jobId}/cancel`)).status).toBe(404)
    expect((await one.admin('DELETE', '/iac/definitions/main')).json).toEqual({ ok: true })
    expect((await one.admin('GET', '/iac/definitions/main')).status).toBe(404)
  })
})

describe('a definition beside what a site has', () => {
  const groups = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ groupName: `g-${at}` }))

  test('may name as many groups as a site can export', async () => {
    const site = await newSite('groups.test')
    await insertGroups('groups.test', 1000)
    const state = await exported(site)
    expect(state.groups).toHaveLength(1000)
    const again = await carryOut(site, 'replace', state)
    expect(again.json).toMatchObject({ status: 'succeeded', summary: { unchanged: 1000 } })
  })

  test('is refused before its first change when there is no room', async () => {
    const site = await newSite('room.test')
    await insertGroups('room.test', 600)
    const refused = await carryOut(site, 'apply', { groups: groups(401) })
    const words = /has 600 and this adds 401, where at most 1000 have room: leave some out/
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { details: [{ field: 'groups', message: expect.stringMatching(words) }] } },
    })
    expect((await exported(site)).groups).toHaveLength(600)
    const fits = await carryOut(site, 'plan', { groups: groups(400) })
    expect(fits.json).toMatchObject({ status: 'succeeded', summary: { created: 400 } })
  })
})

describe('a definition with faults', () => {
  const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`)
  test.each<[string, unknown, string[]]>([
    ['that is no object', [], ['definition']],
    ['with an unknown section', { colours: [] }, ['colours']],
    ['whose section is no list', { jobs: {} }, ['jobs']],
    [
      'that names something twice',
      { groups: [{ groupName: 'a' }, { groupName: 'a' }] },
      ['groups[1]'],
    ],
    [
      'all over it',
      {
        resources: [
          { type: 'ddbTable', name: 'a', config: {} },
          { type: 'lambdaFunction', name: 'b', config: { code: 'x', memoryMb: 1 } },
        ],
        operations: [{ operation: 'auth', preset: 'echo' }, { operation: 'c' }],
        jobs: [{ jobId: 'd', operation: 'c', schedule: { cron: 'never' } }, { operation: 'c' }],
        envVars: [{ name: '1', value: 'x' }],
      },
      [
        'envVars[0].name',
        'resources[0].config.partitionKey',
        'resources[1].config.memoryMb',
        'operations[0].operation',
        'operations[1].lambdaResource',
        'jobs[0].schedule.cron',
        'jobs[1].jobId',
      ],
    ],
    [
      'in its links',
      {
        resources: [
          {
            type: 'lambdaFunction',
            name: 'a',
            config: {
              code: 'export default () => 1',
              resources: [{ resource: 'no', access: 'read' }],
            },
          },
        ],
        operations: [{ operation: 'b', preset: 's3.get-object', resource: 'notes' }],
        jobs: [{ jobId: 'd', operation: 'nothing' }],
      },
      ['resources[0].config.resources[0].resource', 'operations[0].resource', 'jobs[0].operation'],
    ],
    ['that is too deep', { jobs: [{ jobId: 'a', operation: 'b', payload: deep }] }, ['definition']],
  ])('%s is refused with all of them', async (_what, definition, fields) => {
    const answer = await one.admin('POST', '/iac/jobs', { mode: 'apply', definition })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    const named = answer.json.error.details.map(({ field }: { field: string }) => field)
    expect(named).toEqual(fields)
  })

  test.each<[string, object, string]>([
    ['does not parse', { code: 'export default (' }, 'resources[1].config.code'],
    ['throws at its top level', { code: '\nthrow new Error("no")' }, 'resources[1].config.code'],
    ['is in no deployment', { artifact: 'absent.ts' }, 'resources[1].config.artifact'],
  ])(
    'with a function that %s is refused before anything is changed',
    async (_what, config, field) => {
      const site = await newSite(`code-${field.length}-${JSON.stringify(config).length}.test`)
      const definition = {
        groups: [{ groupName: 'first' }],
        resources: [
          { type: 'ddbTable', name: 'notes' },
          { type: 'lambdaFunction', name: 'a', config },
        ],
      }
      const answer = await site.admin('POST', '/iac/jobs', { mode: 'apply', definition })
      expect(answer).toMatchObject({
        status: 400,
        json: { error: { code: 'InvalidCode', details: [{ field }], faults: [{ function: 'a' }] } },
      })
      expect((await exported(site)).resources).toEqual([])
      expect((await site.admin('GET', '/iac/jobs')).json.items).toEqual([])
    },
  )

  test('in the code of a profile fails its job before anything is changed', async () => {
    const site = await newSite('profile-code.test')
    const definition = {
      groups: [{ groupName: 'first' }],
      resources: [{ type: 'lambdaFunction', name: 'a', config: { artifact: 'absent.ts' } }],
    }
    const kept = await site.admin('PUT', '/iac/definitions/later', { definition })
    expect(kept.status, kept.text).toBe(200)
    const order = { mode: 'apply', definitionProfileName: 'later' }
    const { jobId } = (await site.admin('POST', '/iac/jobs', order)).json
    expect((await ended(site, jobId)).json).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('"absent.ts" is not a code file of the deployment'),
      summary: { changes: [] },
    })
    expect((await exported(site)).groups).toEqual([])
  })

  test.each<[string, object, string]>([
    ['nothing', { mode: 'apply' }, 'definition'],
    ['another mode', { mode: 'destroy', definition: {} }, 'mode'],
    [
      'a name that is none',
      { mode: 'apply', definitionProfileName: '../x' },
      'definitionProfileName',
    ],
    [
      'nowhere to keep it',
      { mode: 'apply', definition: {}, persistDefinition: true },
      'definitionProfileName',
    ],
    [
      'nothing to keep',
      { mode: 'apply', definitionProfileName: 'a', persistDefinition: true },
      'persistDefinition',
    ],
  ])('a request for %s is refused', async (_what, body, field) => {
    const answer = await one.admin('POST', '/iac/jobs', body)
    expect(answer.status).toBe(400)
    expect(answer.json.error.details[0].field).toBe(field)
  })

  test('a request for a profile that is not there is refused', async () => {
    const body = { mode: 'apply', definitionProfileName: 'nobody' }
    expect((await one.admin('POST', '/iac/jobs', body)).json.error.code).toBe('DefinitionNotFound')
  })
})

const few = <Item>(item: (name: string) => fc.Arbitrary<Item>): fc.Arbitrary<Item[]> =>
  fc
    .uniqueArray(fc.constantFrom('a1', 'b-2', 'C_3', 'd4'), { maxLength: 4 })
    .chain((names) => fc.tuple(...names.map(item)))

/** Definitions as a client may send them, and as they are exported: sorted, with every default. */
const definitions = fc
  .record({
    groups: few((groupName) =>
      fc.record({
        groupName: fc.constant(groupName),
        description: fc.constantFrom('', 'Wörds "x"'),
      }),
    ),
    envVars: few((name) =>
      fc.record({
        name: fc.constant(name.replace('-', '_')),
        value: fc.constantFrom('', 'é', 'https://x'),
        secret: fc.boolean(),
      }),
    ),
    operations: few((operation) =>
      fc.record({
        operation: fc.constant(operation),
        preset: fc.constant('echo'),
        auth: fc.constantFrom({ mode: 'authenticated' }, { mode: 'public' }),
        cache: fc.record({ ttlSeconds: fc.constantFrom(0, 60) }),
      }),
    ),
    payload: fc.jsonValue({ maxDepth: 3 }),
  })
  .map(({ groups, envVars, operations, payload }) => {
    const jobs = operations.map(({ operation }) => ({
      jobId: operation,
      operation,
      payload: JSON.parse(JSON.stringify(payload).replaceAll(String.raw`\u0000`, '')),
      schedule: null,
      auth: { mode: 'system' },
      enabled: true,
    }))
    const canonical = { envVars, groups, resources: [], operations, jobs }
    const sent = {
      ...canonical,
      groups: groups.map(({ groupName, description }) =>
        description === '' ? { groupName } : { groupName, description },
      ),
      operations: operations.map(({ cache, ...rest }) =>
        cache.ttlSeconds === 0 ? rest : { ...rest, cache },
      ),
    }
    const sorted = Object.entries(canonical).map(([section, items]) => [
      section,
      items.map(withoutSecret).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    ])
    return { sent, canonical: Object.fromEntries(sorted) }
  })

const withoutSecret = (item: object): object =>
  'secret' in item && item.secret === true
    ? Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'value'))
    : item

/** Of an item here the first field is its name. */
const nameOf = (item: object): string => String(Object.values(item)[0])

/** Another running job of the site: a worker that starts one has to wait. */
const runningJob = async (tx: SiteTx): Promise<void> => {
  await tx.db
    .insertInto('iac_job')
    .values({
      site_id: tx.siteId,
      job_id: 'iac_0000000000000000',
      mode: 'plan',
      source: 'inline',
      profile_name: null,
      deployment_id: null,
      persisted: false,
      requested_by: 'test',
      sealed: null,
      status: 'running',
      error: null,
      started_at: null,
      finished_at: null,
    })
    .execute()
}

const insertGroups = (host: string, count: number, prefix = 'full') =>
  stack.inSite(host, (tx) =>
    tx.db
      .insertInto('data_group')
      .values(
        Array.from({ length: count }, (_, at) => ({
          site_id: tx.siteId,
          group_name: `${prefix}-${at}`,
          description: '',
          created_at: new Date(),
        })),
      )
      .execute(),
  )

/** Resolves when a session waits for this one, and gives it. */
const blockedBy = (holder: number): Promise<number> =>
  vi.waitUntil(
    async () => {
      const blocked = await stack.inSite('one.test', (tx) =>
        sql<{ pid: number }>`
          select pid from pg_stat_activity
          where datname = current_database() and ${holder}::int = any(pg_blocking_pids(pid))`.execute(
          tx.db,
        ),
      )
      return blocked.rows[0]?.pid
    },
    { timeout: 10_000, interval: 10 },
  )

/** Resolves when that many transactions wait for others; those that only take turns at NOTIFY do not count. */
const waiters = (count: number): Promise<unknown> =>
  vi.waitUntil(
    async () => {
      const waiting = await stack.inSite('one.test', (tx) =>
        sql<{ count: number }>`
          select count(distinct pid)::int as count from pg_locks
          where not granted and locktype <> 'object'
            and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(
          tx.db,
        ),
      )
      return (waiting.rows[0]?.count ?? 0) >= count
    },
    { timeout: 10_000, interval: 10 },
  )
