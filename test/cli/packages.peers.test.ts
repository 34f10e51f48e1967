import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

/** One function a package, deployed with the packages of this repository. */
const FOLDER = join(import.meta.dirname, 'packages')

let stack: Stack
let site: RuntimeSite
let deployed: {
  readonly fileCount: number
  readonly bundles: readonly {
    readonly artifact: string
    readonly sizeBytes: number
    readonly packages: readonly { readonly name: string; readonly sizeBytes: number }[]
    readonly warnings: readonly string[]
  }[]
}

beforeAll(async () => {
  stack = await startStack({ sites: [] })
  await stack.createSite({
    domain: 'shop.test',
    superAdmins: ['ann@shop.test'],
    sourceMode: 'SITE_GIT',
    repoBinding: { branch: 'main', artifactDirectory: 'site' },
  })
  site = await RuntimeSite.open(stack, 'shop.test')
  const env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  const ran = await croft(['site', 'deploy', 'shop.test', '--from', FOLDER, '--json'], env)
  if (ran.code !== 0) throw new Error(ran.err)
  deployed = JSON.parse(ran.out)
})
afterAll(() => stack[Symbol.asyncDispose]())

async function dataOf(operation: string, payload: unknown): Promise<unknown> {
  const { status, json } = await site.call(operation, payload)
  expect({ status, json }).toMatchObject({ status: 200, json: { ok: true } })
  return json.data
}

describe('a function that imports', () => {
  test('zod validates, and says what is wrong where', async () => {
    const order = { buyer: 'vic@example.org', items: [{ sku: 'a', count: 2 }] }
    expect(await dataOf('zod', order)).toEqual({ order: { ...order, note: 'none' } })
    expect(await dataOf('zod', { buyer: 'vic', items: [{ sku: '', count: 1.5 }] })).toEqual({
      issues: [
        { path: 'buyer', code: 'invalid_format' },
        { path: 'items.0.sku', code: 'too_small' },
        { path: 'items.0.count', code: 'invalid_type' },
      ],
    })
  })

  test('hono routes the request through its middleware', async () => {
    expect(await dataOf('hono', { name: 'Ada' })).toEqual({
      route: '/data/hono',
      by: 'middleware',
      greeting: 'Hello, Ada!',
    })
  })

  test('date-fns reckons with days, and names them in a locale', async () => {
    expect(await dataOf('dateFns', { from: '2026-11-25', days: 5 })).toEqual({
      until: 'Mittwoch, 2. Dezember 2026',
      days: 7,
    })
  })

  test('drizzle-orm builds typed queries, and maps the rows of a database behind HTTP', async () => {
    expect(await dataOf('drizzleOrm', { buyer: 'vic' })).toEqual({
      rows: [{ id: 7, buyer: 'vic', total: 30 }],
      asked: {
        sql: 'select "id", "buyer", "total" from "orders" where ("orders"."buyer" = $1 and "orders"."total" > $2)',
        params: ['vic', 20],
      },
    })
  })

  test('jose signs, verifies and encrypts tokens with secrets, RSA and curves, and refuses forged ones', async () => {
    expect(await dataOf('jose', { role: 'editor' })).toEqual({
      header: { alg: 'HS256' },
      role: 'editor',
      forged: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      RS256: ['editor', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
      ES256: ['editor', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
      EdDSA: ['editor', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
      encrypted: 'for one reader',
    })
  })

  test('marked renders Markdown', async () => {
    expect(await dataOf('marked', { text: '# Hi\n\n| a |\n|---|\n| ~~b~~ |' })).toEqual({
      html: '<h1>Hi</h1>\n<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody><tr>\n<td><del>b</del></td>\n</tr>\n</tbody></table>\n',
    })
  })

  test('handlebars compiles templates, and escapes what they show', async () => {
    const people = [{ name: 'ada', age: 36 }, { name: '<b>' }]
    expect(await dataOf('handlebars', { people })).toEqual({
      html: '<li>ADA (36)</li><li>&lt;B&gt;</li>',
    })
    expect(await dataOf('handlebars', { people: [] })).toEqual({ html: 'nobody' })
  })

  test('stripe verifies the signature of a webhook, and refuses another body', async () => {
    expect(await dataOf('stripe', { amount: 999 })).toEqual({
      type: 'charge.succeeded',
      object: { amount: 999 },
    })
    expect(await dataOf('stripe', { amount: 999, tampered: true })).toEqual({
      refused: expect.any(String),
      of: true,
    })
  })
})

describe('a deployment of functions with packages', () => {
  test('tells the size of each, and which packages it is made of', () => {
    expect(deployed.bundles).toHaveLength(8)
    for (const { artifact, sizeBytes, packages } of deployed.bundles) {
      const [largest] = packages
      expect(artifact).toBe(`functions/${largest?.name}.ts`)
      expect(sizeBytes).toBeGreaterThan(largest?.sizeBytes ?? Infinity)
      expect(sizeBytes).toBeLessThan(700_000)
    }
  })

  test('uploads a bundle and its map beside each function, and none of the packages', () => {
    expect(deployed.fileCount).toBe(1 + 3 * 8)
  })
})
