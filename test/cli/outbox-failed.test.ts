import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

const REFUSED = ['first@refused.test', 'second@refused.test', 'third@refused.test']

const resources = new AsyncDisposableStack()
let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  const server = resources.use(await SmtpServer.start())
  server.answer = (verb, line) =>
    verb === 'RCPT' && line.includes('@refused.test') ? '550 5.1.1 no such user' : undefined
  const mailTransport = resources.use(new SmtpGateway(`smtp://127.0.0.1:${server.port}`))
  stack = resources.use(await startStack({ platform: { mailTransport } }))
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  for (const to of [...REFUSED, 'vic@example.org']) {
    await stack.inSite('one.test', (tx, site) =>
      stack.context.authEmails.send(tx, site, { kind: 'password-changed', pool: 'data', to }),
    )
  }
  await vi.waitUntil(async () => (await failed()).json.items.length === 3, { timeout: 20_000 })
})
afterAll(() => resources.disposeAsync())

const failed = (query = '', site = 'one.test') =>
  stack.portal('GET', `/sites/${site}/failed-mail${query}`)
const outbox = (...args: string[]) => croft(['outbox', '--failed', ...args], env)

describe('mail that was given up', () => {
  test('is listed newest first, page by page, with what the gateway said', async () => {
    const seen: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const page = await failed(`?limit=2${next && `&nextToken=${next}`}`)
      for (const item of page.json.items) {
        expect(item).toMatchObject({
          kind: 'password-changed',
          attempts: 1,
          error: expect.stringContaining('550 5.1.1 no such user'),
          failedAt: expect.any(String),
        })
        seen.push(item.to)
      }
      next = page.json.nextToken
    }
    expect(seen).toEqual(REFUSED.toReversed())
  })

  test('is its site’s alone, and the operator’s', async () => {
    expect((await failed('', 'two.test')).json).toEqual({ items: [], nextToken: null })
    const { nextToken } = (await failed('?limit=1')).json
    expect(await failed(`?nextToken=${nextToken}`, 'two.test')).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidNextToken' } },
    })
    const token = await stack.adminToken('one.test')
    const path = '/portal/api/sites/one.test/failed-mail'
    expect((await stack.call('one.test', 'GET', path, { token })).status).toBe(401)
  })

  test('is printed by croft outbox --failed', async () => {
    const { code, out } = await outbox('--site', 'one.test')
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ {2,}/)[2])).toEqual(REFUSED)
    expect(lines[0]).toContain('1 try')
    expect(lines[0]).toContain('550 5.1.1 no such user')
    expect((await outbox('--site', 'two.test')).out).toBe('No mail was given up\n')
    const { json } = await failed('?limit=25')
    expect(JSON.parse((await outbox('--site', 'one.test', '--json')).out)).toEqual(json)
  })

  test.each([
    ['without a site', []],
    ['to one recipient', ['--site', 'one.test', '--to', 'first@refused.test']],
  ])('is not asked for %s', async (_what, args) => {
    expect((await outbox(...args)).code).toBe(2)
  })
})
