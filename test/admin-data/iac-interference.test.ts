import { createHash } from 'node:crypto'

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { SiteTx } from '#platform/postgres/database.ts'
import { from } from '#test/accounts-desk.ts'
import { type ChangeSeen, ended, heldBack } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const insertGroup =
  (groupName: string) =>
  (tx: SiteTx): Promise<unknown> =>
    tx.db
      .insertInto('data_group')
      .values({ site_id: tx.siteId, group_name: groupName, description: '' })
      .execute()

/** Resolves when that many transactions wait for others, having begun to write into `table` where one is named. */
const waiters = (host: string, count: number, table = ''): Promise<unknown> =>
  vi.waitUntil(
    async () => {
      const { rows } = await stack.inSite(host, (tx) =>
        sql<{ count: number }>`
          select count(distinct waits.pid)::int as count
          from pg_locks waits join pg_stat_activity using (pid)
          where not waits.granted and datname = current_database() and (${table} = '' or exists (
            select from pg_locks held where held.pid = waits.pid and held.mode = 'RowExclusiveLock'
              and held.relation = to_regclass(${table})))`.execute(tx.db),
      )
      return (rows[0]?.count ?? 0) >= count
    },
    { timeout: 30_000, interval: 10 },
  )

const send = async (site: RuntimeSite, definition: object): Promise<string> => {
  const sent = await site.admin('POST', '/iac/jobs', { mode: 'apply', definition })
  expect(sent.status, sent.text).toBe(200)
  return sent.json.jobId
}

const exported = async (site: RuntimeSite) => (await site.admin('GET', '/iac/export')).json
const stepsOf = ({ json }: { json: { summary: { changes: ChangeSeen[] } } }): string[] =>
  json.summary.changes.map(
    ({ status, action, section, name }) => `${status} ${action} ${section} ${name}`,
  )

async function deploy(site: RuntimeSite, texts: Readonly<Record<string, string>>) {
  const { deployments, sites } = stack.context
  const { siteId } = await sites.find(site.host)
  const files = Object.entries(texts).map(([path, text]) => ({
    path,
    sha256: createHash('sha256').update(text).digest('hex'),
    sizeBytes: Buffer.byteLength(text),
  }))
  const { deploymentId, missing } = await deployments.begin(siteId, {
    source: { type: 'folder' },
    by: { type: 'operator', origin: from() } as const,
    buildYml: 'ARTIFACT_DIR: dist\n',
    files,
  })
  for (const { path, sha256 } of files) {
    if (!missing.includes(sha256)) continue
    await deployments.putFile(siteId, deploymentId, sha256, new Blob([texts[path] ?? '']).stream())
  }
  return {
    activate: () =>
      deployments.activate(siteId, deploymentId, { type: 'operator', origin: from() } as const),
  }
}

const greeting = (text: string, rest: object = {}) => ({
  'greet.ts': `export default (): string => '${text}'`,
  'croft.json': JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'greet', config: { artifact: 'greet.ts' } }],
    operations: [{ operation: 'greet', lambdaResource: 'greet', auth: { mode: 'public' } }],
    groups: [{ groupName: 'readers', description: text }],
    ...rest,
  }),
})

describe('a deployment that is activated while a definition is carried out', () => {
  test('becomes current when the step is over, and its own definition comes after', async () => {
    const site = await RuntimeSite.create(stack, 'during.test')
    const { release } = await heldBack(stack, site.host, insertGroup('held'))
    const groups = [{ groupName: 'held' }, { groupName: 'readers', description: 'inline' }]
    const jobId = await send(site, { groups })
    await waiters(site.host, 1, 'data_group')
    const deployment = await deploy(site, greeting('deployed'))
    const activated = deployment.activate()
    await waiters(site.host, 2)
    await release()
    expect(await activated).toMatchObject({ current: true, status: 'ready' })
    const inline = await ended(site, jobId)
    expect(inline.json).toMatchObject({ status: 'succeeded', definitionSource: 'inline' })
    expect(stepsOf(inline)).toEqual([
      'succeeded create groups held',
      'succeeded create groups readers',
    ])
    const { items } = (await site.admin('GET', '/iac/jobs')).json
    expect(items).toMatchObject([{ definitionSource: 'deployment' }, { jobId }])
    const own = await ended(site, items[0].jobId)
    expect(own.json.status).toBe('succeeded')
    expect(stepsOf(own)).toEqual([
      'succeeded update groups readers',
      'succeeded create resources greet',
      'succeeded create operations greet',
    ])
    expect((await exported(site)).groups).toEqual([
      { groupName: 'held', description: '' },
      { groupName: 'readers', description: 'deployed' },
    ])
    await site.synced()
    expect((await site.call('greet')).json).toEqual({ ok: true, data: 'deployed' })
  })

  test('counts again when another was activated after it', async () => {
    const site = await RuntimeSite.create(stack, 'back.test')
    // Its job waits behind this one, and so do the others.
    const groups = Array.from({ length: 100 }, (_, at) => ({ groupName: `g-${at}` }))
    await send(site, { groups })
    const [a, b] = [await deploy(site, greeting('a')), await deploy(site, greeting('b'))]
    for (const { activate } of [a, b, a]) await activate()
    const isIdle = async () => {
      const { siteId } = await stack.context.sites.find(site.host)
      return stack.context.iacJobs.isIdle(siteId)
    }
    await vi.waitUntil(isIdle, { timeout: 100_000 })
    expect((await exported(site)).groups).toContainEqual({ groupName: 'readers', description: 'a' })
    await site.synced()
    expect((await site.call('greet')).json.data).toBe('a')
  })
})

describe('an admin who changes what a definition is about, while it is carried out', () => {
  test('has the last word where it was carried out before, and not where it comes after', async () => {
    const site = await RuntimeSite.create(stack, 'admins.test')
    const lambda = (name: string) => ({
      type: 'lambdaFunction',
      name,
      config: {
        code: `export default (input, ctx) => '${name} ' + ctx.env.COLOUR`,
        environment: ['COLOUR'],
      },
    })
    const bound = (operation: string, lambdaResource: string) => ({
      operation,
      lambdaResource,
      auth: { mode: 'public' },
    })
    const before = {
      envVars: [{ name: 'COLOUR', value: 'white' }],
      resources: [lambda('one'), lambda('two')],
      operations: [bound('early', 'one'), bound('late', 'one')],
    }
    await ended(site, await send(site, before))
    const { resources } = (await site.admin('GET', '/resources')).json
    const idOf = (wanted: string): string =>
      resources.find(({ name }: { name: string }) => name === wanted).resourceId

    // Between its variable, which is done, and its operations.
    const { release } = await heldBack(stack, site.host, insertGroup('held'))
    const jobId = await send(site, {
      envVars: [{ name: 'COLOUR', value: 'red' }],
      groups: [{ groupName: 'held' }],
      operations: [bound('early', 'two'), bound('late', 'two')],
    })
    await waiters(site.host, 1, 'data_group')
    const changed = [
      site.admin('PUT', '/env-vars', { variables: { COLOUR: { value: 'blue' } } }),
      site.admin('POST', '/operations', {
        operation: 'early',
        lambdaResourceId: idOf('two'),
        auth: { mode: 'public' },
      }),
    ]
    await waiters(site.host, 3)
    await release()
    for (const answer of await Promise.all(changed)) expect(answer.status, answer.text).toBe(200)
    const job = await ended(site, jobId)
    expect(job.json).toMatchObject({ status: 'succeeded', error: null })
    // All of them wait for the site: the step of "early" may have it before the admin, who wants the same.
    const steps = stepsOf(job)
    const wasFirst = steps.includes('unchanged none operations early')
    expect(steps).toEqual([
      'succeeded update envVars COLOUR',
      'succeeded create groups held',
      `${wasFirst ? 'unchanged none' : 'succeeded update'} operations early`,
      'succeeded update operations late',
    ])
    expect(job.json.summary).toMatchObject({
      created: 1,
      updated: wasFirst ? 2 : 3,
      unchanged: wasFirst ? 1 : 0,
    })
    const state = await exported(site)
    expect(state.envVars).toMatchObject([{ name: 'COLOUR', value: 'blue' }])
    expect(state.operations).toMatchObject([bound('early', 'two'), bound('late', 'two')])
    await site.synced()
    expect((await site.call('early')).json.data).toBe('two blue')

    // And after its step: what the admin says stays, and the job says what it did.
    const { release: releaseJob } = await heldBack(stack, site.host, (tx) =>
      sql`
        insert into data_job (site_id, job_id, operation, payload, auth, scheduled_since)
        values (${tx.siteId}, 'night', 'late', '{}', '{"mode":"system"}', now())`.execute(tx.db),
    )
    const second = await send(site, {
      operations: [bound('late', 'one')],
      jobs: [{ jobId: 'night', operation: 'late' }],
    })
    await waiters(site.host, 1, 'data_job')
    const repointed = site.admin('POST', '/operations', {
      operation: 'late',
      lambdaResourceId: idOf('two'),
      auth: { mode: 'public' },
    })
    await waiters(site.host, 2)
    await releaseJob()
    expect((await repointed).status).toBe(200)
    const ran = await ended(site, second)
    expect(stepsOf(ran)).toEqual([
      'succeeded update operations late',
      'succeeded create jobs night',
    ])
    expect((await exported(site)).operations).toContainEqual(
      expect.objectContaining({ operation: 'late', lambdaResource: 'two' }),
    )
  })
})

describe('a job that is called off at its last step', () => {
  test('has succeeded, and the cancellation says so', async () => {
    const site = await RuntimeSite.create(stack, 'last.test')
    const { release } = await heldBack(stack, site.host, insertGroup('last'))
    const jobId = await send(site, { groups: [{ groupName: 'first' }, { groupName: 'last' }] })
    await waiters(site.host, 1, 'data_group')
    const cancelling = site.admin('POST', `/iac/jobs/${jobId}/cancel`)
    await waiters(site.host, 2)
    await release()
    expect(await cancelling).toMatchObject({
      status: 409,
      json: { error: { code: 'IacJobFinished', message: expect.stringContaining('succeeded') } },
    })
    const job = await ended(site, jobId)
    expect(job.json).toMatchObject({ status: 'succeeded', summary: { created: 2, failed: 0 } })
    expect((await exported(site)).groups).toHaveLength(2)
  })
})
