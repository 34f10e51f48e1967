import { createHash } from 'node:crypto'

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

import type { SiteTx } from '#platform/postgres/database.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'

const HOST = 'shop.test'

let service: KillableService
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  service = await killableService(cleanUp)
})
afterAll(() => cleanUp.disposeAsync())

const artifact = (greeting: string, rest: object = {}) => ({
  'greet.ts': `export default (): string => '${greeting}'`,
  'croft.json': JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'greet', config: { artifact: 'greet.ts' } }],
    operations: [{ operation: 'greet', lambdaResource: 'greet', auth: { mode: 'public' } }],
    ...rest,
  }),
})

const portal = async (croft: CroftProcess, method: string, path: string, body?: unknown) => {
  const answer = await croft.call({
    method,
    path: `/portal/api/sites/${HOST}/deployments${path}`,
    headers: { authorization: `Bearer ${service.operatorKey}` },
    ...(body === undefined ? {} : { body }),
  })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.json
}

/** Everything but the activation. */
async function upload(croft: CroftProcess, texts: Readonly<Record<string, string>>) {
  const files = Object.entries(texts).map(([path, text]) => ({
    path,
    sha256: createHash('sha256').update(text).digest('hex'),
    sizeBytes: Buffer.byteLength(text),
  }))
  const begun = await portal(croft, 'POST', '', { buildYml: 'ARTIFACT_DIR: dist', files })
  const { deploymentId, missing } = begun
  for (const { path, sha256 } of files) {
    if (!missing.includes(sha256)) continue
    const body = new TextEncoder().encode(texts[path])
    const put = await croft.call({
      method: 'PUT',
      path: `/portal/api/sites/${HOST}/deployments/${deploymentId}/files/${sha256}`,
      headers: { authorization: `Bearer ${service.operatorKey}` },
      body,
    })
    expect(put.status, put.text).toBe(204)
  }
  return deploymentId as string
}

/** Kills the service while `held` keeps what it was asked for from being done. */
async function killBehind(
  croft: CroftProcess,
  siteId: string,
  kill: { readonly held: (tx: SiteTx) => Promise<unknown>; readonly asked: () => Promise<unknown> },
) {
  const takenBack = new Error('rolled back')
  await service.database
    .withSite(siteId, async (tx) => {
      await kill.held(tx)
      const lost = kill.asked().catch(() => {})
      await croft.until('it waits', () => someoneWaits(siteId))
      await croft.kill()
      await lost
      throw takenBack
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error
    })
}

/** Asked in a transaction of its own: one sees the same sessions to its end. */
const someoneWaits = (siteId: string): Promise<boolean> =>
  service.database.withSite(siteId, async (tx) => {
    const { rows } = await sql`select 1 from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database()`.execute(tx.db)
    return rows.length > 0
  })

const greeted = async (croft: CroftProcess) =>
  (await croft.call({ host: HOST, method: 'POST', path: '/data/public/greet', body: {} })).json.data

test('a kill -9 in an activation leaves the earlier deployment, or one that is carried out', async () => {
  const first = await service.start()
  const operator = portalOf(first, service.operatorKey)
  await operator.createSite(HOST)
  const siteId = (await operator.sites()).find(({ domain }) => domain === HOST)?.siteId ?? ''
  const old = await upload(first, artifact('old'))
  await portal(first, 'POST', `/${old}/activate`)
  await first.until('the old one is served', async () => (await greeted(first)) === 'old')

  const next = await upload(first, artifact('new', { groups: [{ groupName: 'held' }] }))
  await killBehind(first, siteId, {
    held: (tx) => sql`select 1 from site_runtime for update`.execute(tx.db),
    asked: () => portal(first, 'POST', `/${next}/activate`),
  })

  const second = await service.start()
  expect(await portal(second, 'GET', '/current')).toMatchObject({ deploymentId: old })
  expect(await portal(second, 'GET', `/${next}`)).toMatchObject({ status: 'uploading' })
  const admin = await portalOf(second, service.operatorKey).admin(HOST)
  await admin('PUT', '/admin/data/env-vars', { variables: { COLOUR: { value: 'red' } } })
  await second.until('the variable is published', async () => {
    const { permissionsSync } = (await admin('GET', '/admin/data/resources')).json
    return permissionsSync.status === 'succeeded'
  })
  expect(await greeted(second)).toBe('old')
  expect((await admin('GET', '/admin/data/iac/jobs')).json.items).toHaveLength(1)

  await killBehind(second, siteId, {
    held: (tx) =>
      tx.db
        .insertInto('data_group')
        .values({ site_id: tx.siteId, group_name: 'held', description: '' })
        .execute(),
    asked: () => portal(second, 'POST', `/${next}/activate`),
  })

  const third = await service.start()
  expect(await portal(third, 'GET', '/current')).toMatchObject({ deploymentId: next })
  await third.until('the new one is served', async () => (await greeted(third)) === 'new')
  const again = await portalOf(third, service.operatorKey).admin(HOST)
  const jobs = (await again('GET', '/admin/data/iac/jobs')).json.items
  expect(jobs.map(({ status }: { status: string }) => status)).toEqual(['succeeded', 'succeeded'])
  expect((await again('GET', '/admin/data/groups')).json.items).toMatchObject([
    { groupName: 'held' },
  ])
  expect((await third.stop()).code).toBe(0)
}, 120_000)
