import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { FormBrowser, hiddenFields, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const BOX = 'info@one.test'
const PAGE = '/admin/public/forwarding/verify'
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const PROGRAM = { accept: '*/*' }
const DAY_MS = 24 * 3_600_000

let made = 0
let networks = 0
/** No request has come from there yet. */
const newNetwork = () => `198.18.${(++networks >> 8) & 255}.${networks & 255}`

let stack: Stack
let ann: Member
let twin: Member
beforeAll(async () => {
  stack = await startStack({ config: { trustedProxies: ['127.0.0.1'] } })
  ann = await new AdminPool(stack, 'one.test').first()
  twin = await new AdminPool(stack, 'two.test').first()
  for (const [by, address] of [
    [ann, BOX],
    [ann, 'other@one.test'],
    [twin, 'info@two.test'],
  ] as const) {
    await by.call('POST', '/mailboxes', { body: { address, owners: [by.userId] } })
  }
})
afterAll(() => stack[Symbol.asyncDispose]())
/** A mailbox has at most twenty. */
afterEach(() =>
  stack.inSite('one.test', (tx, { siteId }) =>
    tx.db.deleteFrom('mail_forwarding_target').where('site_id', '=', siteId).execute(),
  ),
)

const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]

interface Link {
  readonly target: string
  readonly token: string
  /** With its query. */
  readonly path: string
}

const add = (target: string, by = ann, mailbox = BOX) =>
  by.call('POST', `/mailboxes/${mailbox}/forwarding-targets`, { body: { targets: [target] } })

/** A new target that has been asked. */
async function link(by = ann, mailbox = BOX): Promise<Link> {
  const target = `target-${++made}@example.org`
  await add(target, by, mailbox)
  const { pathname, search, searchParams } = new URL(linkIn(await mailTo(stack, target)))
  return { target, token: searchParams.get('token') ?? '', path: `${pathname}${search}` }
}

interface Opening {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
  readonly host?: string
  readonly at?: Stack
}

const open = (
  path: string,
  { method = 'GET', headers = PROGRAM, from, host = 'one.test', at = stack }: Opening = {},
) =>
  at.call(host, method, path, { headers: { ...headers, 'x-forwarded-for': from ?? newNetwork() } })
const statusOf = async (target: string, by = ann, mailbox = BOX): Promise<string | undefined> => {
  const { json } = await by.call('GET', `/mailboxes/${mailbox}/forwarding`)
  return json.targets.find((item: { target: string }) => item.target === target)?.status
}
const pathOf = (query: Readonly<Record<string, string>>) =>
  `${PAGE}?${new URLSearchParams(query).toString()}`

describe('the mail to a target', () => {
  test('says which mailbox of which site asks, where the link leads, and that ignoring it is safe', async () => {
    const { target, token } = await link()
    const mail = await mailTo(stack, target)
    expect(mail.kind).toBe('forwarding-verification')
    expect(mail.subject).toContain(BOX)
    for (const words of [BOX, 'the site one.test', target, 'ignore this message']) {
      expect(mail.text).toContain(words)
    }
    expect(token).toMatch(/^[\w-]{43}$/)
    const url = linkIn(mail)
    expect(url).toBe(stack.baseUrl('one.test') + pathOf({ token, mailbox: BOX, target }))
  })

  test('is in the outbox while no gateway takes it, and is not said to be sent', async () => {
    const { json } = await add('nogateway@example.org')
    expect(json.items[0]).toMatchObject({ status: 'PENDING', verificationSent: false })
    expect(linkIn(await mailTo(stack, 'nogateway@example.org'))).toContain(PAGE)
  })

  test('leaves only a hash of its token behind', async () => {
    const { target, token } = await link()
    const stored = await stack.inSite('one.test', (tx, { siteId }) =>
      tx.db
        .selectFrom('mail_forwarding_target')
        .select(['token_hash as hash', 'token_expires_at as expiresAt'])
        .where('site_id', '=', siteId)
        .where('target', '=', target)
        .executeTakeFirstOrThrow(),
    )
    expect(stored.hash).toHaveLength(32)
    expect(JSON.stringify(stored)).not.toContain(token)
  })
})

describe('a mailed link', () => {
  test('agrees by the GET of a program, once, and says so once in the trail', async () => {
    const { target, path } = await link()
    const { status, json: agreed, headers } = await open(path)
    expect([status, agreed]).toEqual([200, { mailbox: BOX, target, status: 'VERIFIED' }])
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'accept' })
    const again = await open(path)
    expect(codeOf(again)).toEqual([410, 'LinkExpired'])
    expect(again.json.error.message).toContain('agreed')
    expect(await statusOf(target)).toBe('VERIFIED')
    const { json } = await stack.portal(
      'GET',
      '/sites/one.test/audit?event=mail-forwarding.verified&limit=2',
    )
    const events = json.items.filter(
      ({ detail }: { detail: { targets: string } }) => detail.targets === target,
    )
    expect(events).toMatchObject([{ detail: { mailbox: BOX }, actor: null }])
  })

  test('needs no mailbox and target beside its token, and takes other spellings of them', async () => {
    const [first, second] = [await link(), await link()]
    expect((await open(pathOf({ token: first.token }))).status).toBe(200)
    const { token, target } = second
    const spelled = { token, mailbox: 'INFO@One.Test', target: target.toUpperCase() }
    expect((await open(pathOf(spelled))).status).toBe(200)
  })

  test('agrees once when it is opened several times at once', async () => {
    const { target, path } = await link()
    const answers = await Promise.all(Array.from({ length: 20 }, () => open(path)))
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other)
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 410)])
    expect(await statusOf(target)).toBe('VERIFIED')
  })

  test('is a page to a browser, and changes nothing, however often a scanner opens it', async () => {
    const { target, token, path } = await link()
    for (let time = 0; time < 3; time++) {
      const { status, headers, text } = await open(path, { headers: BROWSER })
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'strict-origin',
        vary: 'accept',
      })
      expect(headers['content-security-policy']).toContain("form-action 'self';")
      for (const words of [BOX, target, 'one.test']) expect(textOf(text)).toContain(words)
      expect(hiddenFields(text)).toEqual({ token, mailbox: BOX, target })
      expect(text).toContain(`<form method="post" action="${PAGE}">`)
      expect(text.split(token)).toHaveLength(2)
    }
    expect(await statusOf(target)).toBe('PENDING')
  })

  test('changes nothing by a HEAD, whatever that asks for', async () => {
    const { target, path } = await link()
    for (const headers of [BROWSER, PROGRAM]) {
      expect((await open(path, { method: 'HEAD', headers })).status).toBe(200)
    }
    expect((await open(pathOf({ token: 'wrong' }), { method: 'HEAD' })).status).toBe(400)
    expect(await statusOf(target)).toBe('PENDING')
  })

  test('agrees by the button of its page, which then says so', async () => {
    const { target, path } = await link()
    const browser = new FormBrowser(stack, 'one.test')
    const page = await open(path, { headers: BROWSER })
    const done = await browser.submit(page, {})
    expect([done.status, done.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(textOf(done.text)).toContain('You have agreed')
    expect(await statusOf(target)).toBe('VERIFIED')
    expect(stack.app.recorded.has(`POST ${PAGE} mail-forwarding.verified`)).toBe(true)
    for (const again of [await open(path, { headers: BROWSER }), await browser.submit(page, {})]) {
      expect([again.status, textOf(again.text)]).toEqual([
        410,
        expect.stringContaining('the forwarding is agreed to'),
      ])
    }
  })

  test('agrees by no form of another site', async () => {
    const { target, token } = await link()
    const browser = new FormBrowser(stack, 'one.test')
    const body = new URLSearchParams({ token }).toString()
    const refused = await browser.post(PAGE, body, { 'sec-fetch-site': 'cross-site' })
    expect([refused.status, refused.headers['content-type']]).toEqual([
      403,
      'text/html; charset=utf-8',
    ])
    expect(await statusOf(target)).toBe('PENDING')
  })

  test('still agrees after a restart', async () => {
    const { target, path } = await link()
    await using replica = await startStack({ beside: stack, works: false })
    expect((await open(path, { at: replica })).status).toBe(200)
    expect(await statusOf(target)).toBe('VERIFIED')
  })
})

describe('a link that is not valid', () => {
  /** What is wrong, as a query. */
  const wrong: readonly (readonly [string, () => Promise<Readonly<Record<string, string>>>])[] = [
    ['unknown', async () => ({ token: 'A'.repeat(43), mailbox: BOX, target: 'x@example.org' })],
    ['of another target', async () => ({ ...(await queryOf()), target: 'x@example.org' })],
    ['of another mailbox', async () => ({ ...(await queryOf()), mailbox: 'other@one.test' })],
    [
      'of the same name elsewhere',
      async () => ({ ...(await queryOf()), mailbox: 'info@two.test' }),
    ],
    ['of another site', async () => queryOf(twin, 'info@two.test')],
    [
      'with a line break',
      async () => ({ ...(await queryOf()), target: 'x@y.test\r\nBcc: z@y.test' }),
    ],
    ['with NUL', async () => ({ ...(await queryOf()), mailbox: 'in\0fo@one.test' })],
    ['made of markup', async () => ({ token: '"><script>alert(1)</script>' })],
  ]
  const queryOf = async (by = ann, mailbox = BOX) => {
    const { token, target } = await link(by, mailbox)
    return { token, mailbox, target }
  }

  test.each(wrong)('because it is %s, is one error in JSON and as a page', async (_what, query) => {
    const path = pathOf(await query())
    const answer = await open(path)
    expect(codeOf(answer)).toEqual([400, 'InvalidToken'])
    const page = await open(path, { headers: BROWSER })
    expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
    expect(textOf(page.text)).toContain('This link is not valid')
    expect(page.text).not.toContain('<script')
    const unknown = await open(pathOf({ token: 'B'.repeat(43) }))
    expect(answer.json.error.message).toBe(unknown.json.error.message)
  })

  test('because a newer one was sent, its target was removed, or it is too old', async () => {
    const [renewed, removed, old] = [await link(), await link(), await link()]
    await using later = await startStack({
      beside: stack,
      works: false,
      platform: { clock: { now: () => new Date(Date.now() + 3 * DAY_MS + 1000) } },
    })
    expect(codeOf(await open(old.path, { at: later }))).toEqual([410, 'LinkExpired'])
    expect((await open(old.path, { at: later, headers: BROWSER })).status).toBe(410)
    expect(await statusOf(old.target)).toBe('PENDING')

    const body = { targets: [removed.target] }
    await ann.call('DELETE', `/mailboxes/${BOX}/forwarding-targets`, { body })
    expect(codeOf(await open(removed.path))).toEqual([400, 'InvalidToken'])
    await using patient = await startStack({ beside: stack, works: false })
    const ann2 = await new AdminPool(stack, 'one.test').named(ann.email, patient)
    await add(removed.target, ann2)
    expect(codeOf(await open(removed.path))).toEqual([400, 'InvalidToken'])

    const first = await mailTo(stack, renewed.target)
    await add(renewed.target, ann2)
    const second = new URL(linkIn(await mailTo(stack, renewed.target, undefined, first)))
    expect(codeOf(await open(renewed.path))).toEqual([400, 'InvalidToken'])
    expect(await statusOf(renewed.target)).toBe('PENDING')
    expect((await open(`${second.pathname}${second.search}`)).status).toBe(200)
    expect((await open(old.path)).status).toBe(200)
    expect(codeOf(await open(old.path, { at: later }))).toEqual([410, 'LinkExpired'])
    expect(await statusOf(old.target)).toBe('VERIFIED')
  })

  test('because it is cut, says that it is incomplete', async () => {
    expect(codeOf(await open(PAGE))).toEqual([400, 'MissingToken'])
    const page = await open(PAGE, { headers: BROWSER })
    expect(textOf(page.text)).toContain('This link is incomplete')
    const posted = await new FormBrowser(stack, 'one.test').post(PAGE, '')
    expect([posted.status, textOf(posted.text)]).toEqual([
      400,
      expect.stringContaining('This link is incomplete'),
    ])
    expect(codeOf(await open(pathOf({ token: 'x'.repeat(201) })))[0]).toBe(400)
  })

  test('makes its network wait after thirty, and no other one', async () => {
    const { path, target } = await link()
    const from = newNetwork()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => open(pathOf({ token: `guess-${n}` }), { from })),
    )
    const codes = answers.map(codeOf).map(String)
    expect(codes.filter((code) => code === '400,InvalidToken')).toHaveLength(30)
    expect(codes.filter((code) => code === '429,TooManyRequests')).toHaveLength(20)
    const waits = await open(path, { from })
    expect([waits.status, waits.headers['retry-after']]).toEqual([
      429,
      expect.stringMatching(/^\d+$/),
    ])
    const page = await open(path, { from, headers: BROWSER })
    expect([page.status, textOf(page.text)]).toEqual([
      429,
      expect.stringContaining('Please wait a moment'),
    ])
    expect(await statusOf(target)).toBe('PENDING')
    expect((await open(path)).status).toBe(200)
  })
})
