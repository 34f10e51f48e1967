import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { BETTER, Owner, PASSWORD, csrfOf } from '#test/account-owner.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

/** At the second, each pool has a name of its own. */
const SITES = ['one.test', 'two.test']
const OWN_NAMES = { adminDomain: 'admin.two.test', authDomain: 'auth.two.test' }
const PLACES = SITES.flatMap((host) =>
  (['data', 'admin'] as const).map((kind) => [host, kind] as const),
)
const MINUTE_MS = 60_000

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

/** What a script sends that has the session and its forms, and no secret of the owner. */
const MOVES = [
  ['/address', { username: 'thief@evil.test' }],
  ['/password', { password: BETTER }],
  ['/totp', { code: '123456' }],
  ['/totp/remove', {}],
  ['/recovery-codes', {}],
  ['/passkey', { credential: '{}' }],
  ['/delete', {}],
] as const

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('what moves an account %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({
      sites: SITES,
      platform: { clock: { now } },
      ...(baseUrl && { config: { baseUrl } }),
    })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    await stack.portal('PATCH', '/sites/two.test', OWN_NAMES)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const kept = async ({ party, sub }: Owner) => {
    const { site, pool } = party
    return {
      account: await stack.context.selfService.get({ site, pool }, sub),
      passkeys: await stack.context.passkeys.list(site, pool, sub),
      factors: await stack.context.secondFactors.state(site, pool, sub),
    }
  }

  describe.each(PLACES)('at %s, at the %s pool', (host, kind) => {
    test.each(MOVES)('is not done by a session alone, however fresh: %s', async (page, fields) => {
      const owner = await Owner.of(stack, host, kind)
      const before = await kept(owner)
      const typed = { username: owner.email, ...fields }
      for (const currentPassword of ['', 'Wr0ng-horse', PASSWORD.toUpperCase()]) {
        const refused = await owner.send(page, { ...typed, currentPassword })
        expect(refused.status, textOf(refused.text)).toBe(400)
        expect(textOf(refused.text).toLowerCase()).toMatch(/enter your current password|is wrong/)
      }
      const path = `${owner.party.path}/account${page}`
      const body = new URLSearchParams({ _csrf: csrfOf(await owner.open(page)), ...typed })
      expect((await owner.browser.post(path, body.toString())).status).toBe(400)
      expect(await kept(owner)).toEqual(before)
      expect(await owner.mayUse(PASSWORD)).toBe(true)
      await asSuperuser(stack, (sql) => sql`delete from security_event`)
    })
  })

  test('meets the limiter of sign-ins: guesses wait, also for the right password', async () => {
    const owner = await Owner.of(stack, 'two.test')
    for (let guess = 0; guess < 5; guess++) {
      const wrong = await owner.send('/address', {
        username: 'x@x.test',
        currentPassword: 'Wrong-7',
      })
      expect(wrong.status).toBe(400)
    }
    const waits = await owner.send('/address', { username: 'x@x.test' })
    expect(waits.status).toBe(429)
    expect(await allMailTo(stack, 'x@x.test', 'address-proof')).toEqual([])
    const { json } = await stack.portal('GET', '/sites/two.test/audit?event=sign-in.failed&limit=1')
    expect(json.items[0]).toMatchObject({
      sub: owner.sub,
      detail: { when: 'changing the account' },
    })
  })

  test('takes a password however old the sign-in is', async () => {
    const owner = await Owner.of(stack, 'two.test')
    await owner.signIn(-aheadMs + 3 * 24 * 60 * MINUTE_MS)
    const asked = await owner.send('/address', { username: `late-${owner.email}` })
    expect(textOf(asked.text)).toContain(`We have sent a message to late-${owner.email}`)
  })

  let people = 0
  describe.each(SITES)('of an account at %s without a password and a passkey', (host) => {
    /** A person that a provider or the operator brought. */
    async function somebody() {
      const party = await RelyingParty.of(stack, host, 'data')
      const email = `bare${++people}@visitors.test`
      const sub = await party.user(email)
      const signedIn = async () => {
        const browser = new FormBrowser(stack, party.host)
        const { token, cookie } = await party.signIn(sub, { authTime: now() })
        browser.cookies.set(cookie.slice(0, cookie.indexOf('=')), token)
        return browser
      }
      const open = (browser: FormBrowser, page: string) =>
        browser.get(`${party.path}/account/${page}`)
      return { party, email, sub, signedIn, open, browser: await signedIn() }
    }

    test('takes a code that is mailed on request, and says what it is for', async () => {
      const { browser, open, email } = await somebody()
      const page = await open(browser, 'password')
      expect(textOf(page.text)).toContain(`We mail it to ${email}.`)
      expect(await allMailTo(stack, email, 'proof')).toEqual([])
      const none = await browser.submit(page, { password: BETTER })
      expect(textOf(none.text)).toContain('Enter the code from the message')
      const sent = await browser.submit(page, { action: 'send-proof-code' })
      expect(textOf(sent.text)).toContain(`We have sent a code to ${email}.`)
      const mail = await mailTo(stack, email, 'proof')
      expect(mail.text).toContain('wants to set a password for it')
      const proofCode = codeIn(mail)
      // What is wrong elsewhere in the form does not use it up.
      const weak = await browser.submit(sent, { password: 'short', proofCode })
      expect(weak.status).toBe(400)
      const done = await browser.submit(sent, { password: BETTER, proofCode })
      expect(done.status).toBe(303)
      await mailTo(stack, email, 'password-changed')
      expect(textOf((await open(browser, 'password')).text)).toContain('Current password')
    })

    test.each([
      [
        'of another action',
        async ({ browser, open }: Awaited<ReturnType<typeof somebody>>) =>
          browser.submit(await open(browser, 'address'), { action: 'send-proof-code' }),
      ],
      [
        'of another sign-in of the same account',
        async ({ signedIn, open }: Awaited<ReturnType<typeof somebody>>) => {
          const other = await signedIn()
          return other.submit(await open(other, 'password'), { action: 'send-proof-code' })
        },
      ],
      [
        'of 16 minutes ago',
        async ({ browser, open }: Awaited<ReturnType<typeof somebody>>) => {
          const page = await open(browser, 'password')
          await browser.submit(page, { action: 'send-proof-code' })
          aheadMs += 16 * MINUTE_MS
        },
      ],
    ])('takes no code %s', async (_what, ask) => {
      const person = await somebody()
      const { browser, open, email } = person
      await ask(person)
      const proofCode = codeIn(await mailTo(stack, email, 'proof'))
      const page = await open(browser, 'password')
      const refused = await browser.submit(page, { password: BETTER, proofCode })
      expect(refused.status).toBe(400)
      expect(textOf(refused.text)).toContain('The code is wrong, or no longer good')
    })

    test('takes five tries at a code, and no sixth with the right one', async () => {
      const { browser, open, email } = await somebody()
      const page = await open(browser, 'password')
      await browser.submit(page, { action: 'send-proof-code' })
      const proofCode = codeIn(await mailTo(stack, email, 'proof'))
      const wrong = proofCode === '000000' ? '000001' : '000000'
      for (let attempt = 0; attempt < 5; attempt++) {
        const refused = await browser.submit(page, { password: BETTER, proofCode: wrong })
        expect(refused.status).toBe(400)
      }
      const late = await browser.submit(page, { password: BETTER, proofCode })
      expect(late.status).toBe(400)
    })

    test('mails no more than five codes an hour', async () => {
      const { browser, open, email } = await somebody()
      const page = await open(browser, 'password')
      for (let mail = 0; mail < 5; mail++) {
        expect((await browser.submit(page, { action: 'send-proof-code' })).status).toBe(200)
      }
      expect((await browser.submit(page, { action: 'send-proof-code' })).status).toBe(429)
      await expect.poll(() => allMailTo(stack, email, 'proof')).toHaveLength(5)
    })

    test('mails none to an account that has a password', async () => {
      const owner = await Owner.of(stack, host)
      const page = await owner.open('/address')
      const refused = await owner.browser.submit(page, { action: 'send-proof-code' })
      expect(refused.status).toBe(400)
      expect(await allMailTo(stack, owner.email, 'proof')).toEqual([])
    })
  })
})
