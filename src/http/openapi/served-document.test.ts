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
  const first = document.responseTo(asking())
  expect(first.headers.get('content-type')).toBe('application/json')
  expect(first.headers.get('cache-control')).toBe('private, no-cache')
  expect(await first.json()).toEqual(made())
  expect(await document.responseTo(asking()).json()).toEqual(made())
  expect(count).toBe(1)
})

test('a client that has the document gets 304, also from another process', () => {
  const etag = new ServedDocument(made).responseTo(asking()).headers.get('etag') ?? ''
  const response = new ServedDocument(made).responseTo(asking({ 'if-none-match': etag }))
  expect(response.status).toBe(304)
  expect(response.headers.get('etag')).toBe(etag)
  expect(response.body).toBeNull()
  expect(new ServedDocument(made).responseTo(asking({ 'if-none-match': '"x"' })).status).toBe(200)
})
