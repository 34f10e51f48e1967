import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { MemoryCounters } from '#platform/redis/memory-counters.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const BOX = 'info@one.test'
const SETTINGS = `/mailboxes/${BOX}/forwarding`
const TARGETS = `/mailboxes/${BOX}/forwarding-targets`

let now = new Date('2026-11-24T08:00:00Z')
let stack: Stack
let ann: Member
let ursula: Member
let stranger: Member
let twin: Member
beforeAll(async () => {
  const counters = new MemoryCounters({ clock: { now: () => now } })
  const mailTransport = {
    delivers: true,
    send: async () => {},
    verify: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  stack = await startStack({ works: false, platform: { counters, mailTransport } })
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  stranger = await pool.joined('user')
  twin = await new AdminPool(stack, 'two.test').first()
  await makeBox(BOX, ursula)
  await makeBox('other@one.test', ann)
  await twin.call('POST', '/mailboxes', {
    body: { address: 'info@two.test', owners: [twin.userId] },
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function makeBox(address: string, owner: Member): Promise<void> {
  const body = { address, owners: [owner.userId] }
  const { status, text } = await ann.call('POST', '/mailboxes', { body })
  if (status !== 200) throw new Error(`${address}: ${status} ${text}`)
}

const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]
const add = (targets: unknown, path = TARGETS, by = ursula) =>
  by.call('POST', path, { body: { targets } })
const remove = (targets: unknown, path = TARGETS, by = ursula) =>
  by.call('DELETE', path, { body: { targets } })
const listed = async (path = TARGETS, by = ursula): Promise<string[]> =>
  (await by.call('GET', path)).json.items.map(({ target }: { target: string }) => target)
const laterBy = (minutes: number) => (now = new Date(now.getTime() + minutes * 60_000))

/** How many mails of a verification a site has queued for an address. */
const asked = (target: string, host = 'one.test') =>
  stack.inSite(host, async (tx, { siteId }) => {
    const rows = await tx.db
      .selectFrom('outbound_message')
      .select('recipient')
      .where('site_id', '=', siteId)
      .where('kind', '=', 'forwarding-verification')
      .where('recipient', '=', target)
      .execute()
    return rows.length
  })

/** As an opened link does. */
const verify = (target: string) =>
  stack.inSite('one.test', (tx, { siteId }) =>
    tx.db
      .updateTable('mail_forwarding_target')
      .set({ verified_at: new Date() })
      .where('site_id', '=', siteId)
      .where('target', '=', target)
      .execute(),
  )

describe('the forwarding of a mailbox', () => {
  test('is off and keeps copies until its owner says otherwise, each by itself', async () => {
    const first = { mailbox: BOX, enabled: false, keepCopy: true, targets: [] }
    expect((await ursula.call('GET', SETTINGS)).json).toEqual(first)
    const on = await ursula.call('PUT', SETTINGS, { body: { enabled: true } })
    expect([on.status, on.json]).toEqual([200, { ...first, enabled: true }])
    const moved = await ursula.call('PUT', SETTINGS, { body: { keepCopy: false } })
    expect(moved.json).toEqual({ ...first, enabled: true, keepCopy: false })
    expect((await ann.call('GET', SETTINGS)).json).toEqual(moved.json)
  })

  test.each([
    ['nothing', {}],
    ['a word', { enabled: 'yes' }],
    ['a field that is none', { enabled: true, targets: ['eve@example.org'] }],
    ['null', { keepCopy: null }],
  ])('is not changed by %s', async (_what, body) => {
    const before = (await ursula.call('GET', SETTINGS)).json
    expect(codeOf(await ursula.call('PUT', SETTINGS, { body }))).toEqual([400, 'ValidationError'])
    expect((await ursula.call('GET', SETTINGS)).json).toEqual(before)
  })

  test('is that of no stranger, and of no other site', async () => {
    const body = { enabled: true, targets: ['eve@example.org'] }
    for (const [method, path, field] of [
      ['GET', SETTINGS],
      ['PUT', SETTINGS, 'enabled'],
      ['GET', TARGETS],
      ['POST', TARGETS, 'targets'],
      ['DELETE', TARGETS, 'targets'],
    ] as const) {
      const sent = field === undefined ? {} : { body: { [field]: body[field] } }
      const refused = await stranger.call(method, path, sent)
      expect(codeOf(refused), `${method} ${path}`).toEqual([404, 'MailboxNotFound'])
      expect(codeOf(await twin.call(method, path, sent))).toEqual([404, 'MailboxNotFound'])
      const foreign = { ...sent, token: twin.token }
      expect((await stack.call('one.test', method, `/admin/api${path}`, foreign)).status).toBe(401)
    }
    expect(await listed()).not.toContain('eve@example.org')
  })

  test('ends when the mailbox is disabled, and stays ended when it is restored', async () => {
    await makeBox('leaving@one.test', ann)
    const path = '/mailboxes/leaving@one.test/forwarding'
    await ann.call('PUT', path, { body: { enabled: true } })
    await ann.call('DELETE', '/mailboxes/leaving@one.test')
    const enable = await ann.call('PUT', path, { body: { enabled: true } })
    expect(codeOf(enable)).toEqual([409, 'MailboxDisabled'])
    expect(codeOf(await add(['eve@example.org'], `${path}-targets`, ann))[1]).toBe(
      'MailboxDisabled',
    )
    await ann.call('POST', '/mailboxes/leaving@one.test/restore', { body: {} })
    expect((await ann.call('GET', path)).json.enabled).toBe(false)
  })

  test('goes with the mailbox', async () => {
    await makeBox('gone@one.test', ann)
    const path = '/mailboxes/gone@one.test'
    await ann.call('PUT', `${path}/forwarding`, { body: { enabled: true } })
    await add(['goes@example.org'], `${path}/forwarding-targets`, ann)
    await ann.call('DELETE', path)
    expect((await ann.call('POST', `${path}/purge`, { body: { confirm: true } })).status).toBe(204)
    await makeBox('gone@one.test', ann)
    expect((await ann.call('GET', `${path}/forwarding`)).json).toMatchObject({
      enabled: false,
      targets: [],
    })
  })
})

describe('forwarding targets', () => {
  test('are added in one spelling, asked by mail, listed and removed', async () => {
    const added = await add(['Eve@Example.org', 'bob@example.org', 'eve@example.org'])
    const pending = { status: 'PENDING', verificationSent: true }
    expect([added.status, added.json]).toEqual([
      200,
      {
        mailbox: BOX,
        items: [
          { target: 'bob@example.org', ...pending },
          { target: 'eve@example.org', ...pending },
        ],
      },
    ])
    expect(await asked('eve@example.org')).toBe(1)
    const { json } = await ursula.call('GET', TARGETS)
    expect(json).toEqual({
      mailbox: BOX,
      items: ['bob@example.org', 'eve@example.org'].map((target) => ({
        target,
        status: 'PENDING',
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      })),
      nextToken: null,
    })
    expect((await remove(['EVE@example.org', 'nobody@example.org'])).status).toBe(204)
    const query = '?targets=bob@example.org&targets=eve@example.org'
    expect((await ursula.call('DELETE', TARGETS + query)).status).toBe(204)
    expect(await listed()).toEqual([])
  })

  test('that have agreed are not asked again', async () => {
    await add(['agreed@example.org'])
    await verify('agreed@example.org')
    laterBy(2)
    const again = await add(['agreed@example.org'])
    expect(again.json.items).toEqual([
      { target: 'agreed@example.org', status: 'VERIFIED', verificationSent: false },
    ])
    expect(await asked('agreed@example.org')).toBe(1)
    await remove(['agreed@example.org'])
  })

  test('may be in other sites, and are asked like any other', async () => {
    const added = await add(['info@two.test', 'other@one.test'])
    expect(added.json.items.map((item: object) => Object.values(item))).toEqual([
      ['info@two.test', 'PENDING', true],
      ['other@one.test', 'PENDING', true],
    ])
    await remove(['info@two.test', 'other@one.test'])
  })

  test('do not lead back to the mailbox', async () => {
    await ann.call('PUT', '/aliases/hello@one.test', { body: { targets: [BOX] } })
    for (const own of [BOX, 'INFO+x@One.Test', 'hello@one.test', 'hello+y@one.test']) {
      const refused = await add([own, 'fine@example.org'])
      expect(codeOf(refused), own).toEqual([400, 'InvalidTarget'])
      expect(refused.json.error.message).toContain(own.toLowerCase())
    }
    expect(await listed()).toEqual([])
  })

  test('are at most twenty, however many add them at once', async () => {
    await makeBox('full@one.test', ann)
    const path = '/mailboxes/full@one.test/forwarding-targets'
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) => add([`full-${n}@example.org`], path, ann)),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(codeOf)).toEqual(Array.from({ length: 5 }, () => [403, 'QuotaExceeded']))
    expect(await listed(path, ann)).toHaveLength(20)
  })

  test.each([
    ['no list', undefined],
    ['an empty list', []],
    ['one address alone', 'a@example.org'],
    ['a word', ['a']],
    ['a line break', ['a@example.org\r\nBcc: b@example.org']],
    ['a line break in the local part', ['a\r\nb@example.org']],
    ['a quoted name', ['"a b"@example.org']],
    ['a name before it', ['Ann <a@example.org>']],
    ['two addresses in one', ['a@example.org,b@example.org']],
    ['NUL', ['a\0@example.org']],
    ['half a surrogate pair', ['a\ud800@example.org']],
    ['what is no host name', ['a@exa_mple.org/']],
    ['too long an address', [`a@${'d'.repeat(60)}.${'d'.repeat(200)}.org`]],
    ['too long a local part', [`${'l'.repeat(65)}@example.org`]],
    ['too many', Array.from({ length: 21 }, (_, n) => `r${n}@example.org`)],
  ])('are refused where there is %s', async (_what, targets) => {
    expect(codeOf(await add(targets))).toEqual([400, 'ValidationError'])
    expect(codeOf(await remove(targets))).toEqual([400, 'ValidationError'])
    expect(await listed()).toEqual([])
  })

  test('are written down with who changed them, and only when they change', async () => {
    await add(['trail@example.org'])
    await add(['trail@example.org'])
    await remove(['trail@example.org'])
    await remove(['trail@example.org'])
    await ursula.call('PUT', SETTINGS, { body: { enabled: false } })
    await ursula.call('PUT', SETTINGS, { body: { enabled: false } })
    const { json } = await stack.portal('GET', '/sites/one.test/audit?limit=3')
    const detail = { mailbox: BOX, targets: 'trail@example.org' }
    expect(json.items).toMatchObject([
      { event: 'mail-forwarding.changed', actor: ursula.userId, detail: { enabled: false } },
      { event: 'mail-forwarding.targets-removed', actor: ursula.userId, detail },
      { event: 'mail-forwarding.targets-added', actor: ursula.userId, detail },
    ])
    expect(json.items[0].detail).toEqual({ mailbox: BOX, enabled: false, keepCopy: false })
  })
})

describe('mail to a target that has not agreed', () => {
  const sent = async (target: string, path = TARGETS, by = ursula) =>
    (await add([target], path, by)).json.items[0].verificationSent

  test('leaves once a minute and five times an hour, whichever mailbox asks', async () => {
    const other = '/mailboxes/other@one.test/forwarding-targets'
    const target = 'often@example.org'
    laterBy(60)
    expect([await sent(target), await sent(target), await sent(target, other, ann)]).toEqual([
      true,
      false,
      false,
    ])
    for (let n = 0; n < 4; n++) {
      laterBy(1.1)
      expect(await sent(target)).toBe(true)
    }
    laterBy(1.1)
    expect(await sent(target)).toBe(false)
    expect(await asked(target)).toBe(5)
    laterBy(60)
    expect(await sent(target)).toBe(true)
    await remove([target])
  })

  test('leaves once of a hundred askings at the same time', async () => {
    laterBy(60)
    await Promise.all(Array.from({ length: 100 }, () => add(['race@example.org'])))
    expect(await asked('race@example.org')).toBe(1)
    await remove(['race@example.org'])
  })

  test('leaves forty times an hour for a mailbox', async () => {
    laterBy(60)
    let mails = 0
    for (let round = 0; round < 3; round++) {
      const targets = Array.from({ length: 20 }, (_, n) => `many-${round}-${n}@example.org`)
      const { items } = (await add(targets)).json
      mails += items.filter((item: { verificationSent: boolean }) => item.verificationSent).length
      await remove(targets)
    }
    expect(mails).toBe(40)
    expect(await sent('next@example.org')).toBe(false)
    expect(await sent('next@example.org', TARGETS.replace('info', 'other'), ann)).toBe(true)
    await remove(['next@example.org'])
  })

  test('does not count where the change is refused', async () => {
    laterBy(60)
    const path = '/mailboxes/full@one.test/forwarding-targets'
    expect(codeOf(await add(['spare@example.org'], path, ann))).toEqual([403, 'QuotaExceeded'])
    expect(await sent('spare@example.org')).toBe(true)
    await remove(['spare@example.org'])
  })

  test('does not leave to an address that mail came back from', async () => {
    laterBy(60)
    await stack.inSite('one.test', (tx) =>
      stack.context.suppressions.add(tx, 'back@example.org', '550 5.1.1'),
    )
    expect(await sent('back@example.org')).toBe(false)
    expect(await asked('back@example.org')).toBe(0)
    await remove(['back@example.org'])
  })
})
