import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { Validator } from '@seriousme/openapi-schema-validator'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { OpenApiDocument } from '#http/openapi/document.ts'
import type { JsonSchema } from '#http/openapi/json-schema.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
const BOX = { address: 'box@one.test', owners: ['ann@one.test'] }
const JSON_TYPE = 'application/json'
/** What a client that is generated from the documents reads and sends. */
const CLIENT = `
import type { paths as Admin } from './admin.d.ts'
import type { paths as Portal } from './portal.d.ts'

type Json<Response> = Response extends { content: { '${JSON_TYPE}': infer Body } } ? Body : never
type Mailboxes = Json<Admin['/admin/api/mailboxes']['get']['responses'][200]>
type Site = Json<Portal['/portal/api/sites/{siteId}']['get']['responses'][200]>
type NewMailbox = Json<Admin['/admin/api/mailboxes']['post']['requestBody']>

export const ownersOf = ({ items }: Mailboxes): string[] => items.flatMap(({ owners }) => owners)
export const domainOf = ({ domain }: Site): string => domain
export const box: NewMailbox = { address: 'box@one.test', owners: ['ann@one.test'] }
// @ts-expect-error -- it has an owner
export const bare: NewMailbox = { address: 'box@one.test' }
`

let stack: Stack
let documents: Record<'admin' | 'portal', OpenApiDocument>
beforeAll(async () => {
  stack = await startStack({ sites: [HOST] })
  const token = await stack.adminToken(HOST)
  documents = {
    admin: (await stack.call(HOST, 'GET', '/admin/openapi.json', { token })).json,
    portal: (await stack.portal('GET', '/openapi.json')).json,
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

describe.each(['admin', 'portal'] as const)('the document of /%s', (name) => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate({ ...documents[name] })
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
    expect(validator.version).toBe('3.1')
  })

  test('has schemas that a validator of 2020-12 takes strictly', () => {
    const ajv = strictAjv()
    const schemas = schemasIn(documents[name])
    expect(schemas.length).toBeGreaterThan(100)
    for (const schema of schemas)
      expect(ajv.validateSchema(schema), JSON.stringify(schema)).toBe(true)
    for (const schema of schemas) ajv.compile({ ...schema, components: documents[name].components })
  })
})

test('the types that are generated from the documents compile', async () => {
  const folder = await mkdtemp(
    join(resolve(import.meta.dirname, '../..'), 'test/node_modules/.types-'),
  )
  try {
    for (const [name, document] of Object.entries(documents)) {
      const source = astToString(await openapiTS(JSON.stringify(document)))
      await writeFile(join(folder, `${name}.d.ts`), source)
    }
    await writeFile(join(folder, 'client.ts'), CLIENT)
    const compiler = resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
    const flags = ['--noEmit', '--strict', '--ignoreConfig', '--allowImportingTsExtensions']
    const files = ['admin.d.ts', 'portal.d.ts', 'client.ts']
    const args = [compiler, ...flags, ...files]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
    expect(stdout).toBe('')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('what routes respond with is as the documents say', async () => {
  const ajv = strictAjv()
  const token = await stack.adminToken(HOST)
  const created = await stack.call(HOST, 'POST', '/admin/api/mailboxes', { token, body: BOX })
  expect(created.status).toBe(200)
  const alias = { token, body: { targets: [BOX.address] } }
  await stack.call(HOST, 'PUT', '/admin/api/aliases/hello@one.test', alias)
  let compared = 0
  for (const { path, schema } of Object.values(documents).flatMap(readable)) {
    const credential = path.startsWith('/portal') ? stack.operatorKey : token
    const response = await stack.call(HOST, 'GET', path, { token: credential })
    if (response.status !== 200) continue
    const validate = ajv.compile(schema)
    expect(validate(response.json), `${path} ${ajv.errorsText(validate.errors)}`).toBe(true)
    compared += 1
  }
  expect(compared).toBeGreaterThan(50)
})

/** What can be read without the id of anything but the site and a mailbox. */
function readable({ paths, components }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([template, { get }]) => {
    const path = template.replace('{siteId}', HOST).replace('{address}', BOX.address)
    const schema = get?.responses['200']?.content?.[JSON_TYPE]?.schema
    if (schema === undefined || path.includes('{')) return []
    const query = template === '/admin/api/messages' ? `?mailbox=${BOX.address}` : ''
    return [{ path: `${path}${query}`, schema: { ...schema, components } }]
  })
}

function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false })
  addFormats(ajv)
  return ajv.addKeyword('components')
}

/** The different schemas of requests and responses, and those that have a name. */
function schemasIn({ paths, components }: OpenApiDocument): JsonSchema[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const bodies = operations.flatMap(({ requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    ),
  )
  const parameters = operations.flatMap(({ parameters = [] }) => parameters)
  const used = [...bodies, ...parameters].map(({ schema }) => schema)
  const all = [...Object.values(components.schemas), ...used]
  return [...new Map(all.map((schema) => [JSON.stringify(schema), schema])).values()]
}
