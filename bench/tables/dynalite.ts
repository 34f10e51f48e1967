import { fileURLToPath } from 'node:url'

import { startChild } from '#bench/child-process.ts'

import { type Contender, ITEMS, itemOf, keyOf } from './contender.ts'
import { HttpClient } from './http-client.ts'

const SERVER = fileURLToPath(new URL('dynalite-server.ts', import.meta.url))
const HEADERS = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-date': '20260101T000000Z',
  authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=a',
}
const TableName = 'items'

/** dynalite in memory, over HTTP as it is used. A million items would take it too long to load. */
export async function startDynalite(max: number): Promise<Contender & AsyncDisposable> {
  const child = startChild('node', [SERVER])
  const port = Number(await child.line((line) => /^port (\d+)$/.exec(line)?.[1]))
  const client = new HttpClient({ port, headers: HEADERS, max })
  const call = (action: string, body: object) =>
    client.post('/', body, { 'x-amz-target': `DynamoDB_20120810.${action}` })
  await call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const put = (index: number) => call('PutItem', { TableName, Item: wireItem(index) })
  for (let index = 0; index < ITEMS; index += 1) await put(index)
  return {
    name: 'dynalite, HTTP',
    async get(index) {
      const { Item } = await call('GetItem', { TableName, Key: { id: { S: keyOf(index).id } } })
      if (Item === undefined) throw new Error('dynalite found no item')
    },
    async put(index) {
      await put(index)
    },
    query: undefined,
    async [Symbol.asyncDispose]() {
      client.close()
      await child[Symbol.asyncDispose]()
    },
  }
}

function wireItem(index: number): object {
  const { id, name, email, visits, tags, address } = itemOf(index)
  const { street, city, postcode } = address
  return {
    id: { S: id },
    name: { S: name },
    email: { S: email },
    visits: { N: String(visits) },
    tags: { L: tags.map((tag) => ({ S: tag })) },
    address: { M: { street: { S: street }, city: { S: city }, postcode: { S: postcode } } },
  }
}
