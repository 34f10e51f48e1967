import { startCroft } from '#bench/croft/croft-process.ts'

import { type Contender, ITEMS, itemOf, keyOf } from './contender.ts'
import { HttpClient } from './http-client.ts'

const DOMAIN = 'bench.test'
const USER = `ann@${DOMAIN}`
const BATCH = 25

/** The admin's route of a whole installation: token, role, definition and action with each call. */
export async function startCroftRoute(max: number): Promise<Contender & AsyncDisposable> {
  const croft = await startCroft()
  await croft.command('site', 'create', '--domain', DOMAIN, '--super-admin', USER)
  const { token } = await croft.command<{ token: string }>(
    'token',
    '--site',
    DOMAIN,
    '--user',
    USER,
    '--pool',
    'admin',
  )
  const client = new HttpClient({
    port: Number(new URL(croft.origin).port),
    headers: {
      host: DOMAIN,
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
    max,
  })
  const { resourceId } = await client.post('/admin/data/resources', {
    type: 'ddbTable',
    name: 'items',
    config: { partitionKey: { name: 'id', type: 'S' } },
  })
  const call = (action: string, body: object) =>
    client.post(`/admin/data/resources/${String(resourceId)}/data/ddb/${action}`, body)
  for (let index = 0; index < ITEMS; index += BATCH) {
    await call('batch-write', {
      puts: Array.from({ length: BATCH }, (_, at) => itemOf(index + at)),
    })
  }
  return {
    name: 'admin route, HTTP',
    async get(index) {
      const { item } = await call('get', { key: keyOf(index) })
      if (item === null) throw new Error('the route found no item')
    },
    async put(index) {
      await call('put', { item: itemOf(index) })
    },
    query: undefined,
    async [Symbol.asyncDispose]() {
      client.close()
      await croft[Symbol.asyncDispose]()
    },
  }
}
