import { afterAll, beforeAll, expect, test } from 'vitest'

import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'

const HOST = 'shop.test'

/** A hundred changes, of every section. */
const DEFINITION = {
  envVars: list(10, (at) => ({ name: `VAR_${at}`, secret: false, value: `value ${at}` })),
  groups: list(20, (at) => ({ groupName: `group-${at}`, description: `Number ${at}` })),
  resources: [
    ...list(15, (at) => ({
      type: 'lambdaFunction',
      name: `fn-${at}`,
      config: {
        code: `export default () => ${at}`,
        handler: 'default',
        timeoutSeconds: 15,
        memoryMb: 128,
        environment: [`VAR_${at % 10}`],
        resources: [{ resource: `table-${at}`, access: 'read' }],
      },
    })),
    ...list(15, (at) => ({
      type: 'ddbTable',
      name: `table-${at}`,
      config: { partitionKey: { name: 'id', type: 'S' } },
    })),
  ],
  operations: list(25, (at) => ({
    operation: `op-${at}`,
    lambdaResource: `fn-${at % 15}`,
    auth: { mode: 'groups', groups: [`group-${at % 20}`] },
    cache: { ttlSeconds: at },
  })),
  jobs: list(15, (at) => ({
    jobId: `job-${at}`,
    operation: `op-${at}`,
    payload: { at },
    schedule: { cron: `${at} 4 1 1 *` },
    auth: { mode: 'system' },
    enabled: true,
  })),
}

let service: KillableService
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  service = await killableService(cleanUp)
})
afterAll(() => cleanUp.disposeAsync())

/** Numbers of the steps that are done. */
const stepsDone = (siteId: string): Promise<number> =>
  service.database.withSite(siteId, async (tx) => {
    const rows = await tx.db
      .selectFrom('iac_change')
      .select('position')
      .where('site_id', '=', tx.siteId)
      .where('status', '=', 'succeeded')
      .execute()
    return rows.length
  })

/** Keeps the step that makes the group waiting until `release`. */
async function stopAt(siteId: string, groupName: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: held, resolve: holding } = Promise.withResolvers<void>()
  const over = service.database
    .withSite(siteId, async (tx) => {
      const row = { site_id: tx.siteId, group_name: groupName, description: '' }
      await tx.db.insertInto('data_group').values(row).execute()
      holding()
      await released
      throw new Error('rolled back')
    })
    .catch(() => {})
  await held
  return async () => {
    release()
    await over
  }
}

test('a kill -9 in the middle of a hundred changes: the next start finishes them, each once', async () => {
  const first = await service.start()
  const portal = portalOf(first, service.operatorKey)
  await portal.createSite(HOST)
  const siteId = (await portal.sites()).find(({ domain }) => domain === HOST)?.siteId ?? ''
  const admin = await portal.admin(HOST)
  const release = await stopAt(siteId, 'group-5')
  const body = { mode: 'apply', definition: DEFINITION }
  const { jobId } = (await admin('POST', '/admin/data/iac/jobs', body)).json
  await first.until('a quarter is done', async () => (await stepsDone(siteId)) === 25)
  await first.kill()
  await release()
  expect(await stepsDone(siteId)).toBe(25)

  const second = await service.start()
  const again = await portalOf(second, service.operatorKey).admin(HOST)
  const job = async () => (await again('GET', `/admin/data/iac/jobs/${jobId}`)).json
  await second.until('the job has ended', async () => (await job()).finishedAt !== null)
  const ended = await job()
  expect(ended).toMatchObject({
    status: 'succeeded',
    error: null,
    summary: { created: 100, updated: 0, deleted: 0, unchanged: 0, failed: 0 },
  })
  const names = ended.summary.changes.map(
    ({ section, name }: { section: string; name: string }) => `${section}/${name}`,
  )
  expect(new Set(names).size).toBe(100)

  const exported = (await again('GET', '/admin/data/iac/export')).json
  expect(Object.keys(exported)).toHaveLength(5)
  for (const [section, items] of Object.entries(DEFINITION)) {
    expect(byName(exported[section]), section).toEqual(byName(items))
  }
  await second.until('what was done is published', async () => {
    const { permissionsSync } = await job()
    return permissionsSync.status === 'succeeded'
  })
  expect((await second.stop()).code).toBe(0)
}, 120_000)

/** Lists in one order: the name of an item is its first field, except for resources. */
const byName = (items: readonly Record<string, unknown>[]) =>
  items.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))

const nameOf = ({ jobId, groupName, operation, name }: Record<string, unknown>): string =>
  String(jobId ?? groupName ?? (name === undefined ? operation : name))

function list<Item>(length: number, item: (at: number) => Item): Item[] {
  return Array.from({ length }, (_, at) => item(at))
}
