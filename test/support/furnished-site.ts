import { decodeJwt } from 'jose'
import { vi } from 'vitest'

import { ended } from './iac.ts'
import type { RuntimeSite } from './runtime-site.ts'
import type { Stack } from './stack.ts'

const PATIENCE = { timeout: 20_000, interval: 20 }

/** One thing of each kind that a site has. */
export interface Ids {
  readonly table: string
  readonly bucket: string
  readonly fn: string
  readonly operation: string
  readonly job: string
  readonly run: string
  readonly iacJob: string
  readonly profile: string
  readonly group: string
  readonly user: string
  /** The `sub` of that user. */
  readonly visitor: string
  /** Of a run, with a line in the log. */
  readonly request: string
}

/** Under `/admin/data`. */
export type Route = readonly [method: string, path: string, body?: unknown]

/** Every place of `/admin/data` where an id goes. */
export const routesOf = (ids: Ids): readonly Route[] => [
  ...resourceRoutes(ids),
  ...tableRoutes(`/resources/${ids.table}/data/ddb`),
  ...bucketRoutes(`/resources/${ids.bucket}/data/s3`),
  ...operationRoutes(ids),
  ...jobRoutes(ids),
  ...iacRoutes(ids),
  ...groupRoutes(ids),
  ...visitorRoutes(ids),
  ['GET', `/logs?operation=${ids.operation}`],
  ['GET', `/logs?requestId=${ids.request}`],
]

const resourceRoutes = (ids: Ids): readonly Route[] =>
  [ids.table, ids.bucket, ids.fn].flatMap((id): Route[] => [
    ['GET', `/resources/${id}`],
    ['PATCH', `/resources/${id}`, { config: {} }],
    ['DELETE', `/resources/${id}`],
  ])

const tableRoutes = (ddb: string): readonly Route[] => [
  ['POST', `${ddb}/get`, { key: { id: 'a' } }],
  [
    'POST',
    `${ddb}/query`,
    { keyConditionExpression: 'id = :a', expressionAttributeValues: { ':a': 'a' } },
  ],
  ['POST', `${ddb}/scan`, {}],
  ['POST', `${ddb}/put`, { item: { id: 'a' } }],
  ['POST', `${ddb}/update`, { key: { id: 'a' } }],
  ['POST', `${ddb}/delete`, { key: { id: 'a' } }],
  ['POST', `${ddb}/batch-get`, { keys: [{ id: 'a' }] }],
  ['POST', `${ddb}/batch-write`, { puts: [{ id: 'a' }] }],
  ['POST', `${ddb}/transact-write`, { actions: [{ put: { item: { id: 'a' } } }] }],
]

const bucketRoutes = (s3: string): readonly Route[] => [
  ['POST', `${s3}/list-objects`, {}],
  ['POST', `${s3}/get-object`, { key: 'k' }],
  ['POST', `${s3}/put-object`, { key: 'k', body: 'x' }],
  ['POST', `${s3}/delete-object`, { key: 'k' }],
  ['POST', `${s3}/presign-get-object`, { key: 'k' }],
  ['POST', `${s3}/presign-put-object`, { key: 'k', contentType: 'text/plain', sizeBytes: 1 }],
]

const operationRoutes = (ids: Ids): readonly Route[] => {
  const granted = {
    code: 'export default () => 1',
    resources: [{ resourceId: ids.table, access: 'read' }],
  }
  const preset = { preset: 'ddb.get', resourceId: ids.table }
  return [
    ['POST', '/resources', { type: 'lambdaFunction', name: 'mine', config: granted }],
    ['POST', '/operations', { operation: 'mine', lambdaResourceId: ids.fn }],
    ['POST', '/operations', { operation: 'mine', preset }],
    ['DELETE', `/operations/${ids.operation}`],
    ['POST', `/operations/${ids.operation}`],
  ]
}

const jobRoutes = (ids: Ids): readonly Route[] => [
  ['PUT', '/jobs/mine', { operation: ids.operation }],
  ['GET', `/jobs/${ids.job}`],
  ['PUT', `/jobs/${ids.job}`, { enabled: false }],
  ['POST', `/jobs/${ids.job}`],
  ['DELETE', `/jobs/${ids.job}`],
  ['GET', `/jobs/${ids.job}/runs`],
  ['GET', `/jobs/${ids.job}/runs/${ids.run}`],
]

const iacRoutes = (ids: Ids): readonly Route[] => [
  ['GET', `/iac/jobs/${ids.iacJob}`],
  ['POST', `/iac/jobs/${ids.iacJob}/cancel`],
  ['POST', '/iac/jobs', { mode: 'plan', definitionProfileName: ids.profile }],
  ['GET', `/iac/definitions/${ids.profile}`],
  ['DELETE', `/iac/definitions/${ids.profile}`],
]

const groupRoutes = (ids: Ids): readonly Route[] => [
  ['DELETE', `/groups/${ids.group}`],
  ['GET', `/groups/${ids.group}/users`],
  ['POST', `/groups/${ids.group}/users`, { username: ids.user }],
  ['DELETE', `/groups/${ids.group}/users`, { username: ids.user }],
  ['POST', '/groups/own/users', { username: ids.user }],
  ['DELETE', '/groups/own/users', { username: ids.user }],
]

const visitorRoutes = ({ visitor }: Ids): readonly Route[] => [
  ['GET', `/users/${visitor}`],
  ['GET', `/users/${visitor}/sessions`],
  ['DELETE', `/users/${visitor}/sessions/ses_0000000000000000`],
  ['POST', `/users/${visitor}/sign-out`],
  ['DELETE', `/users/${visitor}/second-factor`],
  ['POST', `/users/${visitor}/disable`],
  ['POST', `/users/${visitor}/enable`],
  ['DELETE', `/users/${visitor}`],
]

/** Gives the site one thing of each kind. */
export async function furnish(stack: Stack, one: RuntimeSite): Promise<Ids> {
  const create = async (type: string, name: string, config: object) =>
    (await one.admin('POST', '/resources', { type, name, config })).json.resourceId as string
  const table = await create('ddbTable', 'things', { partitionKey: { name: 'id', type: 'S' } })
  const bucket = await create('s3Bucket', 'files', {})
  await one.admin('POST', `/resources/${bucket}/data/s3/put-object`, { key: 'k', body: 'x' })
  const fn = await one.putFunction(
    'secretive',
    'export default () => { console.log("inside"); return 1 }',
  )
  await one.putOperation('theirs', { lambdaResourceId: fn, auth: { mode: 'public' } })
  await one.admin('PUT', '/jobs/theirjob', { operation: 'theirs' })
  await one.admin('POST', '/groups', { groupName: 'theirgroup' })
  await one.synced()
  await one.call('theirs')
  const token = await stack.dataToken(one.host, { user: 'theiruser@example.test' })
  const run = (await one.admin('POST', '/jobs/theirjob')).json.data.runId
  const { requestId: request } = await vi.waitUntil(async () => {
    const { json } = await one.admin('GET', `/jobs/theirjob/runs/${run}`)
    return json.logs?.length > 0 ? json : undefined
  }, PATIENCE)
  const definition = { groups: [{ groupName: 'theirgroup' }] }
  await one.admin('PUT', '/iac/definitions/theirprofile', { definition })
  const iacJob = (await one.admin('POST', '/iac/jobs', { mode: 'plan', definition })).json.jobId
  await ended(one, iacJob)
  return {
    table,
    bucket,
    fn,
    run,
    iacJob,
    operation: 'theirs',
    job: 'theirjob',
    profile: 'theirprofile',
    group: 'theirgroup',
    request,
    user: 'theiruser@example.test',
    visitor: decodeJwt(token).sub ?? '',
  }
}
