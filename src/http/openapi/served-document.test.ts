import { expect, test } from 'vitest'

import { ComponentSchemas } from './component-schemas.ts'
import { openApiDocument } from './document.ts'
import { ServedDocument } from './served-document.ts'

const INFO = { title: 'Shop', description: 'What a shop does', version: '1.2.3' }
const made = () =>
  openApiDocument({
    info: INFO,
    operations: [],
    schemas: new ComponentSchemas(),
    securitySchemes: {},
  })

const asking = (headers: Record<string, string> = {}) => ({ headers: new Headers(headers) })

test('a document is made once, at its first request', async () => {
  let count = 0
  const document = new ServedDocument(() => {
    count += 1
    return made()
  })
  expect(count).toBe(0)
  const first = await document.responseTo(asking())
  expect(first.headers.get('content-type')).toBe('application/json')
  expect(first.headers.get('cache-control')).toBe('no-store')
  expect(await first.json()).toEqual(made())
  const second = await document.responseTo(asking())
  expect(await second.json()).toEqual(made())
  expect(count).toBe(1)
})

test('a client that has the document gets 304, also from another process', async () => {
  const first = await new ServedDocument(made).responseTo(asking())
  const etag = first.headers.get('etag') ?? ''
  const response = await new ServedDocument(made).responseTo(asking({ 'if-none-match': etag }))
  expect(response.status).toBe(304)
  expect(response.headers.get('etag')).toBe(etag)
  expect(response.body).toBeNull()
  const other = await new ServedDocument(made).responseTo(asking({ 'if-none-match': '"x"' }))
  expect(other.status).toBe(200)
})

test('a document that could not be made is made again at the next request', async () => {
  let count = 0
  const document = new ServedDocument(async () => {
    count += 1
    if (count === 1) throw new Error('not yet')
    return made()
  }, 'no-cache')
  await expect(document.responseTo(asking())).rejects.toThrow('not yet')
  const response = await document.responseTo(asking())
  expect(response.headers.get('cache-control')).toBe('no-cache')
})
