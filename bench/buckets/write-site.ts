import { join } from 'node:path'

import { startCroft } from '#bench/croft/croft-process.ts'
import type { Call } from '#bench/tables/closed-loop.ts'
import { HttpClient } from '#bench/tables/http-client.ts'

const DOMAIN = 'bench.test'
const USER = `ann@${DOMAIN}`
const BODY = 'x'.repeat(300)
/** Keys that overwrites go round. */
const KEYS = 100
const MAX_CALLERS = 16

export interface WriteSite extends AsyncDisposable {
  readonly name: string
  /** A small object under a new key. */
  readonly object: Call
  /** A small object under a key that is there. */
  readonly overwrite: Call
  /** An item of the same size. */
  readonly item: Call
}

/** A site with a bucket and a table, of a whole installation; `folder` is another checkout. */
export async function startWriteSite(name: string, folder?: string): Promise<WriteSite> {
  const program = folder && [process.execPath, join(folder, 'bin/croft.js'), 'serve']
  await using started = new AsyncDisposableStack()
  const croft = started.use(await startCroft(program ? program : undefined))
  await croft.command('site', 'create', '--domain', DOMAIN, '--super-admin', USER)
  const of = ['--site', DOMAIN, '--user', USER, '--pool', 'admin'] as const
  const { token } = await croft.command<{ token: string }>('token', ...of)
  const client = new HttpClient({
    port: Number(new URL(croft.origin).port),
    headers: {
      host: DOMAIN,
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
    max: MAX_CALLERS,
  })
  const make = async (resource: object) =>
    String((await client.post('/admin/data/resources', resource))['resourceId'])
  const bucket = await make({ type: 's3Bucket', name: 'files' })
  const config = { partitionKey: { name: 'id', type: 'S' } }
  const table = await make({ type: 'ddbTable', name: 'items', config })
  started.defer(() => client.close())
  const running = started.move()
  let written = 0
  const put = async (key: string) => {
    await client.post(`/admin/data/resources/${bucket}/data/s3/put-object`, { key, body: BODY })
  }
  return {
    name,
    object: () => put(`new/${written++}`),
    overwrite: (index) => put(`old/${index % KEYS}`),
    item: async () => {
      const item = { id: `item-${written++}`, body: BODY }
      await client.post(`/admin/data/resources/${table}/data/ddb/put`, { item })
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
