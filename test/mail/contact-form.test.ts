import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { MemoryCounters } from '#platform/redis/memory-counters.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATH = '/admin/public/contact'
const SUBMISSION = { email: 'vic@example.org', message: 'Are you open?' }
const RECIPIENTS = ['bob@example.org', 'eve@example.org']
const MESSAGE_ID = /^msg_[a-z0-9]{16}$/

let now = new Date('2026-11-24T08:00:00Z')
let networks = 0
/** No request has come from there yet. */
const newNetwork = () => `198.${18 + (++networks >> 16)}.${(networks >> 8) & 255}.${networks & 255}`

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    works: false,
    config: { trustedProxies: ['127.0.0.1'] },
    platform: { counters: new MemoryCounters({ clock: { now: () => now } }) },
  })
  for (const host of ['one.test', 'two.test']) await addRecipients(host, RECIPIENTS)
})
afterAll(() => stack[Symbol.asyncDispose]())

async function addRecipients(host: string, recipients: readonly string[]): Promise<void> {
  const path = `/sites/${host}/contact-recipients`
  expect((await stack.portal('POST', path, { recipients })).status).toBe(200)
}

interface Posting {
  readonly host?: string
  readonly from?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly at?: Stack
}

const post = ({ host = 'one.test', from, body = SUBMISSION, headers, at = stack }: Posting = {}) =>
  at.call(host, 'POST', PATH, {
    body,
    headers: { 'x-forwarded-for': from ?? newNetwork(), ...headers },
  })
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]
const statusesOf = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status)

const queued = (host = 'one.test') =>
  stack.inSite(host, async (tx, { siteId }) => {
    const rows = await tx.db
      .selectFrom('outbound_message')
      .select('recipient')
      .where('site_id', '=', siteId)
      .where('kind', '=', 'contact')
      .execute()
    return rows.map(({ recipient }) => recipient)
  })

describe('a contact form', () => {
  test('queues a message for each recipient of its own site, and answers with one id', async () => {
    const [before, other] = [await queued(), await queued('two.test')]
    const answer = await post()
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toEqual({ messageId: expect.stringMatching(MESSAGE_ID) })
    expect((await queued()).slice(before.length).toSorted()).toEqual(RECIPIENTS)
    expect(await queued('two.test')).toEqual(other)
  })

  test('is 503 without recipients', async () => {
    await stack.createSite({ domain: 'nobody.test', superAdmins: [] })
    const headers = { 'idempotency-key': 'later' }
    const from = newNetwork()
    const refused = await post({ host: 'nobody.test', headers, from })
    expect(codeOf(refused)).toEqual([503, 'ContactNotConfigured'])
    await addRecipients('nobody.test', ['bob@example.org'])
    expect((await post({ host: 'nobody.test', headers, from })).status).toBe(200)
    expect(await queued('nobody.test')).toEqual(['bob@example.org'])
  })

  test('takes all that a form may have, at its longest', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`key ${n}`, 'v'.repeat(500)]),
    )
    const body = {
      email: `${'l'.repeat(64)}@${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.test`,
      name: 'n'.repeat(200),
      phone: '0'.repeat(40),
      subject: 's'.repeat(200),
      message: 'm'.repeat(5000),
      metadata,
    }
    const answer = await post({ body })
    expect(answer.status, answer.text).toBe(200)
    expect((await post({ body: { ...SUBMISSION, name: '', website: '' } })).status).toBe(200)
  })

  test('asked twice under one Idempotency-Key sends once, and counts once', async () => {
    const from = newNetwork()
    const before = await queued()
    const again = () => post({ from, headers: { 'idempotency-key': 'k1' } })
    const answers = await Promise.all([again(), again()])
    for (let n = 0; n < 8; n++) answers.push(await again())
    const ids = new Set(answers.map(({ status, json }) => `${status} ${json.messageId}`))
    expect(ids.size).toBe(1)
    expect(await queued()).toHaveLength(before.length + RECIPIENTS.length)

    const body = { ...SUBMISSION, message: 'Something else' }
    const reused = await post({ from, body, headers: { 'idempotency-key': 'k1' } })
    expect(codeOf(reused)).toEqual([422, 'IdempotencyKeyReused'])
    const stranger = await post({ body, headers: { 'idempotency-key': 'k1' } })
    expect(stranger.status).toBe(200)
    expect(stranger.json).not.toEqual(answers[0]?.json)
  })

  test('whose honeypot is filled gets the same response, and sends nothing', async () => {
    const before = await queued()
    const from = newNetwork()
    const body = { ...SUBMISSION, website: 'https://spam.test' }
    const headers = { 'idempotency-key': 'bot' }
    const first = await post({ from, body, headers })
    expect(first).toMatchObject({
      status: 200,
      json: { messageId: expect.stringMatching(MESSAGE_ID) },
    })
    expect((await post({ from, body, headers })).json).toEqual(first.json)
    for (let n = 0; n < 4; n++) expect((await post({ from, body })).status).toBe(200)
    expect(codeOf(await post({ from, body }))).toEqual([429, 'TooManyRequests'])
    expect(await queued()).toEqual(before)
  })

  test.each([
    ['no email', { message: 'x' }, 'email'],
    ['no address as email', { ...SUBMISSION, email: 'vic' }, 'email'],
    ['two addresses as email', { ...SUBMISSION, email: 'a@x.test,b@x.test' }, 'email'],
    ['a header behind its email', { ...SUBMISSION, email: 'a@x.test\r\nBcc: b@x.test' }, 'email'],
    ['an encoded word as email', { ...SUBMISSION, email: '=?utf-8?Q?a?=@x.test' }, 'email'],
    ['NUL in its email', { ...SUBMISSION, email: 'a\0@x.test' }, 'email'],
    ['a turning mark in its email', { ...SUBMISSION, email: 'a\u202e@x.test' }, 'email'],
    ['too long an email', { ...SUBMISSION, email: `${'a'.repeat(250)}@x.t` }, 'email'],
    ['no message', { email: 'a@x.test' }, 'message'],
    ['an empty message', { ...SUBMISSION, message: '' }, 'message'],
    ['a message of blanks', { ...SUBMISSION, message: ' \n\0\u202e' }, 'message'],
    ['too long a message', { ...SUBMISSION, message: 'm'.repeat(5001) }, 'message'],
    ['too long a name', { ...SUBMISSION, name: 'n'.repeat(201) }, 'name'],
    ['too long a phone', { ...SUBMISSION, phone: '0'.repeat(41) }, 'phone'],
    ['too long a subject', { ...SUBMISSION, subject: 's'.repeat(201) }, 'subject'],
    ['another thing than text', { ...SUBMISSION, subject: 7 }, 'subject'],
    [
      'too much metadata',
      {
        ...SUBMISSION,
        metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, ''])),
      },
      'metadata',
    ],
    ['too long a value', { ...SUBMISSION, metadata: { key: 'v'.repeat(501) } }, 'metadata.key'],
    ['a number as value', { ...SUBMISSION, metadata: { key: 1 } }, 'metadata.key'],
    ['a list as metadata', { ...SUBMISSION, metadata: [] }, 'metadata'],
    ['too long a key', { ...SUBMISSION, metadata: { ['k'.repeat(101)]: '' } }, 'metadata'],
    ['a line break in a key', { ...SUBMISSION, metadata: { 'a\nb': '' } }, 'metadata'],
    ['a field that is none', { ...SUBMISSION, to: 'victim@example.org' }, 'to'],
  ])('with %s is refused, naming the field', async (_what, body, field) => {
    const before = await queued()
    const answer = await post({ body })
    expect(codeOf(answer)).toEqual([400, 'ValidationError'])
    expect(answer.json.error.details[0].field).toContain(field)
    expect(await queued()).toEqual(before)
  })

  test.each([
    ['no JSON', '{"email', 'application/json', 400],
    ['an ordinary form', 'email=a@x.test&message=x', 'application/x-www-form-urlencoded', 415],
    ['plain text', JSON.stringify(SUBMISSION), 'text/plain', 415],
    ['too much', JSON.stringify({ x: 'x'.repeat(300_000) }), 'application/json', 413],
  ] as const)('that is %s is refused', async (_what, body, type, status) => {
    expect((await post({ body, headers: { 'content-type': type } })).status).toBe(status)
  })

  test('is no page of an unknown host, and is not read', async () => {
    expect(codeOf(await post({ host: 'unknown.test' }))).toEqual([404, 'SiteNotFound'])
    expect((await stack.call('one.test', 'GET', PATH)).status).toBe(405)
  })
})

describe('one network', () => {
  test('has five of a thousand posts at once taken, at each site', async () => {
    const from = newNetwork()
    const before = [await queued(), await queued('two.test')]
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, n) => post({ from, host: n % 2 ? 'one.test' : 'two.test' })),
    )
    expect(statusesOf(answers, 200)).toHaveLength(10)
    const refused = statusesOf(answers, 429)
    expect(refused).toHaveLength(990)
    for (const answer of refused) {
      expect(answer.json.error.code).toBe('TooManyRequests')
      expect(answer.headers['retry-after']).toBe('60')
    }
    for (const [at, host] of ['one.test', 'two.test'].entries()) {
      expect(await queued(host)).toHaveLength((before[at]?.length ?? 0) + 10)
    }
  })

  test('has five a minute taken, and twenty an hour', async () => {
    const from = newNetwork()
    const begin = now.getTime()
    const atMinute = (minutes: number) => (now = new Date(begin + minutes * 60_000))
    for (let minute = 0; minute < 4; minute++) {
      atMinute(minute)
      for (let n = 0; n < 5; n++) expect((await post({ from })).status).toBe(200)
      expect(codeOf(await post({ from }))).toEqual([429, 'TooManyRequests'])
    }
    atMinute(4)
    const refused = await post({ from })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(56 * 60)])
    atMinute(60)
    expect((await post({ from })).status).toBe(200)
  })

  test('of IPv6 is a /64', async () => {
    const posts = Array.from({ length: 8 }, (_, n) => post({ from: `2001:db8:7:7::${n + 1}` }))
    expect(statusesOf(await Promise.all(posts), 200)).toHaveLength(5)
    expect((await post({ from: '2001:db8:7:8::1' })).status).toBe(200)
  })

  test('is not another one by what it writes into X-Forwarded-For itself', async () => {
    const from = newNetwork()
    const posts = Array.from({ length: 10 }, () => post({ from: `${newNetwork()}, ${from}` }))
    expect(statusesOf(await Promise.all(posts), 200)).toHaveLength(5)
  })

  test('is limited by each process while Redis is gone', async () => {
    await using alone = await startStack({
      beside: stack,
      works: false,
      redisUrl: 'redis://127.0.0.1:1',
      config: { trustedProxies: ['127.0.0.1'] },
    })
    const from = newNetwork()
    const posts = Array.from({ length: 30 }, () => post({ from, at: alone }))
    const answers = await Promise.all(posts)
    expect(statusesOf(answers, 200)).toHaveLength(5)
    expect(statusesOf(answers, 429)).toHaveLength(25)
  })
})

test('two hundred networks have five posts each taken, and no sixth', async () => {
  const addresses = Array.from({ length: 200 }, newNetwork)
  const before = await queued()
  const answers: Answer[] = []
  // Sixty at once: more would wait so long for the database that some get 503.
  for (let first = 0; first < addresses.length; first += 10) {
    const some = addresses.slice(first, first + 10)
    const posts = some.flatMap((from) => Array.from({ length: 6 }, () => post({ from })))
    answers.push(...(await Promise.all(posts)))
  }
  expect(statusesOf(answers, 200)).toHaveLength(1000)
  expect(statusesOf(answers, 429)).toHaveLength(200)
  expect(await queued()).toHaveLength(before.length + 1000 * RECIPIENTS.length)
})

describe('pages of other origins', () => {
  const APP = 'https://app.one.test'
  beforeAll(async () => {
    const settings = { deploymentSettings: { cors: { origins: [APP] } } }
    await stack.portal('PATCH', '/sites/one.test', settings)
  })

  const preflight = (origin: string, host = 'one.test') =>
    stack.call(host, 'OPTIONS', PATH, {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,idempotency-key',
      },
    })

  test('may post when the site names them', async () => {
    for (const origin of [APP, stack.baseUrl('one.test')]) {
      const { headers } = await preflight(origin)
      expect(headers['access-control-allow-origin']).toBe(origin)
      expect(headers['access-control-allow-methods']).toContain('POST')
      expect(headers['access-control-allow-headers']).toContain('idempotency-key')
      const answer = await post({ headers: { origin } })
      expect(answer.status).toBe(200)
      expect(answer.headers['access-control-allow-origin']).toBe(origin)
      expect(answer.headers['access-control-expose-headers']).toContain('retry-after')
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test('may not otherwise', async () => {
    for (const [origin, host] of [
      ['https://evil.test', 'one.test'],
      ['null', 'one.test'],
      [APP, 'two.test'],
    ] as const) {
      for (const answer of [
        await preflight(origin, host),
        await post({ host, headers: { origin } }),
      ]) {
        expect(answer.headers['access-control-allow-origin']).toBeUndefined()
      }
    }
  })
})
