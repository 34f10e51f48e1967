import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATH = '/contact-recipients'

let stack: Stack
let ann: Member
let ursula: Member
let twin: Member
beforeAll(async () => {
  stack = await startStack()
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  twin = await new AdminPool(stack, 'two.test').first()
})
afterAll(() => stack[Symbol.asyncDispose]())

const emailsOf = ({ json }: Answer): string[] =>
  json.items.map(({ email }: { email: string }) => email)
const list = async (by = ann) => emailsOf(await by.call('GET', PATH))
const add = (recipients: unknown, by = ann) => by.call('POST', PATH, { body: { recipients } })
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]

describe('contact recipients', () => {
  test('are added once each, in one spelling, and removed', async () => {
    const added = await add(['Bob@Example.org', 'al@example.org', 'bob@example.org'])
    expect(added).toMatchObject({
      status: 200,
      json: { items: [{ email: 'al@example.org' }, { email: 'bob@example.org' }] },
    })
    const [before] = (await ann.call('GET', PATH)).json.items
    expect(before).toEqual({
      email: 'al@example.org',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      updatedAt: before.createdAt,
    })
    expect((await add(['al@example.org'])).status).toBe(200)
    const [again] = (await ann.call('GET', PATH)).json.items
    expect(again.createdAt).toBe(before.createdAt)
    expect(again.updatedAt >= before.updatedAt).toBe(true)

    const body = { recipients: ['AL@example.org', 'nobody@example.org'] }
    expect((await ann.call('DELETE', PATH, { body })).status).toBe(204)
    expect(await list()).toEqual(['bob@example.org'])
    await add(['al@example.org', 'cy@example.org'])
    const query = '?recipients=al@example.org&recipients=bob@example.org'
    expect((await ann.call('DELETE', PATH + query)).status).toBe(204)
    expect(await list()).toEqual(['cy@example.org'])
  })

  test('are those of one site', async () => {
    await add(['shared@example.org'])
    await add(['shared@example.org', 'only@two.test'], twin)
    expect(await list(twin)).toEqual(['only@two.test', 'shared@example.org'])
    await twin.call('DELETE', PATH, { body: { recipients: ['shared@example.org'] } })
    expect(await list()).toContain('shared@example.org')
    expect(await list()).not.toContain('only@two.test')
  })

  test('are at most twenty, however many add them at once', async () => {
    await stack.createSite({ domain: 'full.test', superAdmins: ['ann@full.test'] })
    const admin = await new AdminPool(stack, 'full.test').first()
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) => add([`r${n}@example.org`], admin)),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(codeOf)).toEqual(Array.from({ length: 5 }, () => [403, 'QuotaExceeded']))
    const there = await list(admin)
    expect(there).toHaveLength(20)
    expect((await add(there, admin)).status).toBe(200)
  })

  test('are written down, with who changed them, and only when they change', async () => {
    await add(['trail@example.org'])
    await add(['trail@example.org'])
    const body = { recipients: ['trail@example.org'] }
    await ann.call('DELETE', PATH, { body })
    await ann.call('DELETE', PATH, { body })
    const { json } = await stack.portal('GET', '/sites/one.test/audit?limit=2')
    expect(json.items).toMatchObject(
      ['contact-recipients.removed', 'contact-recipients.added'].map((event) => ({
        event,
        actor: ann.userId,
        detail: { recipients: 'trail@example.org' },
      })),
    )
  })

  test('are refused to a user, and to an admin of another site', async () => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'GET' ? {} : { body: { recipients: ['x@example.org'] } }
      expect(codeOf(await ursula.call(method, PATH, body))).toEqual([403, 'Forbidden'])
      const options = { ...body, token: twin.token }
      const foreign = await stack.call('one.test', method, `/admin/api${PATH}`, options)
      expect(foreign.status).toBe(401)
    }
    expect(await list()).not.toContain('x@example.org')
  })

  test.each([
    ['no list', undefined],
    ['an empty list', []],
    ['one address alone', 'a@example.org'],
    ['a word', ['a']],
    ['a line break', ['a@example.org\r\nBcc: b@example.org']],
    ['two addresses in one', ['a@example.org,b@example.org']],
    ['NUL', ['a\0@example.org']],
    ['what is no host name', ['a@exa_mple.org/']],
    ['too many', Array.from({ length: 21 }, (_, n) => `r${n}@example.org`)],
  ])('are refused where there is %s', async (_what, recipients) => {
    const before = await list()
    const answer = await add(recipients)
    expect(codeOf(answer)).toEqual([400, 'ValidationError'])
    expect(answer.json.error.details[0].field).toMatch(/^recipients/)
    const removed = await ann.call('DELETE', PATH, { body: { recipients } })
    expect(codeOf(removed)).toEqual([400, 'ValidationError'])
    expect(await list()).toEqual(before)
  })
})
