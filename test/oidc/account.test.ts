import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import { BETTER, FORM, Owner, PASSWORD, csrfOf } from '#test/account-owner.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { allMailTo, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('the account’s page %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...(baseUrl && { config: { baseUrl } }) })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  describe.each(SITES)('of %s', (host) => {
    test.each(['data', 'admin'] as const)(
      'signs in a visitor without a session, at the %s pool',
      async (kind) => {
        const { party, email } = await Owner.of(stack, host, kind)
        const browser = new FormBrowser(stack, host)
        const sent = await browser.get(`${party.path}/account`)
        expect(sent).toMatchObject({ status: 303 })
        const login = await browser.get(sent.headers['location'] ?? '')
        expect(login.status).toBe(303)
        const form = await browser.get(login.headers['location'] ?? '')
        expect(textOf(form.text)).toContain(`Sign in to your account at ${host}`)
        const signedIn = await browser.submit(form, { username: email, password: PASSWORD })
        expect(signedIn.headers['location']).toBe(`${party.pool.issuer}/account`)
        const account = await browser.get(`${party.path}/account`)
        expect(account.status).toBe(200)
        expect(textOf(account.text)).toContain(`Your account ${email} at ${host}`)
      },
    )

    test('shows no account of another site, of the other pool, or of a session that has ended', async () => {
      const { party, browser, sub } = await Owner.of(stack, host)
      const other = await Owner.of(stack, SITES.find((site) => site !== host) ?? '')
      const admin = await RelyingParty.of(stack, host, 'admin')
      for (const [at, path] of [
        [other.party.host, other.party.path],
        [host, admin.path],
      ] as const) {
        const there = new FormBrowser(stack, at)
        for (const [name, value] of browser.cookies) {
          there.cookies.set(name.replace(party.pool.userPoolId, path.slice(6)), value)
        }
        expect(await there.get(`${path}/account`)).toMatchObject({ status: 303 })
      }
      expect((await browser.get(`${party.path}/account`)).status).toBe(200)
      const { userSessions } = stack.context
      await userSessions.endAll(party.site, { pool: party.pool, sub }, SYSTEM)
      expect(await browser.get(`${party.path}/account`)).toMatchObject({ status: 303 })
    })

    test('takes a name, and tells it in tokens and at userInfo', async () => {
      const owner = await Owner.of(stack, host)
      const saved = await owner.send('/name', { name: '  Ann   <b>Ü. Lee</b> ' })
      expect(textOf(saved.text)).toContain('Your name is changed.')
      expect(saved.text).toContain('Ann &#60;b&#62;Ü. Lee&#60;/b&#62;')
      const tokens = await owner.party.tokens(owner.email)
      expect(decodeJwt(tokens.id_token ?? '')).toMatchObject({ name: 'Ann <b>Ü. Lee</b>' })
      const info = await owner.party.userInfo(tokens.access_token)
      expect(info.json).toMatchObject({ name: 'Ann <b>Ü. Lee</b>' })
      await owner.send('/name', { name: ' ' })
      const without = await owner.party.tokens(owner.email)
      expect(decodeJwt(without.id_token ?? '')).not.toHaveProperty('name')
    })

    test.each([
      ['too long a name', '/name', { name: 'x'.repeat(101) }, 'at most 100 characters'],
      ['a name with control characters', '/name', { name: 'a\u0000b' }, 'control characters'],
      ['a name that turns the text around', '/name', { name: 'a\u202Eb' }, 'control characters'],
      ['no address', '/address', { username: 'nobody' }, 'is not an email address'],
      ['an empty address', '/address', { username: '' }, 'Enter your email address'],
      ['a wrong password', '/password', { currentPassword: 'x', password: BETTER }, 'Is wrong'],
      [
        'no new password',
        '/password',
        { currentPassword: PASSWORD, password: '' },
        'Enter a password',
      ],
      [
        'a weak password',
        '/password',
        { currentPassword: PASSWORD, password: 'short' },
        'at least 8',
      ],
    ])('refuses %s, and says why', async (_what, page, fields, words) => {
      const owner = await Owner.of(stack, host)
      const refused = await owner.send(page, fields)
      expect(refused.status).toBe(400)
      expect(textOf(refused.text).toLowerCase()).toContain(words.toLowerCase())
      expect(await owner.mayUse(PASSWORD)).toBe(true)
    })

    test.each(['data', 'admin'] as const)(
      'changes the password with the old one, which ends the other sign-ins, at the %s pool',
      async (kind) => {
        const owner = await Owner.of(stack, host, kind)
        const other = await owner.party.tokens(owner.email)
        const wanted = (await owner.mayUse(PASSWORD)) ? [PASSWORD, BETTER] : [BETTER, PASSWORD]
        const [currentPassword = '', password = ''] = wanted
        const changed = await owner.send('/password', { currentPassword, password })
        expect(textOf(changed.text)).toContain('Your password is changed')
        expect(await owner.mayUse(currentPassword)).toBe(false)
        expect(await owner.mayUse(password)).toBe(true)
        expect((await owner.party.refresh(other.refresh_token)).status).toBe(400)
        expect((await owner.open()).status).toBe(200)
        await mailTo(stack, owner.email, 'password-changed')
      },
    )

    test('changes the address once its own link was opened, and the old one can undo it', async () => {
      const owner = await Owner.of(stack, host)
      const wanted = `new-${owner.email}`
      const asked = await owner.send('/address', { username: wanted })
      expect(textOf(asked.text)).toContain(`We have sent a message to ${wanted}`)
      expect(textOf(asked.text)).toContain(`Your account ${owner.email}`)
      const link = new URL(linkIn(await mailTo(stack, wanted, 'address-proof')))
      const confirm = await owner.browser.get(`${link.pathname}${link.search}`)
      const confirmed = await owner.browser.submit(confirm, {})
      expect(textOf(confirmed.text)).toContain(`From now on you sign in as ${wanted}`)
      expect(confirmed.text).toContain(`href="${owner.party.path}/account"`)
      expect(textOf((await owner.open()).text)).toContain(`Your account ${wanted}`)
      const undo = new URL(linkIn(await mailTo(stack, owner.email, 'address-changed')))
      const page = await owner.browser.get(`${undo.pathname}${undo.search}`)
      await owner.browser.submit(page, {})
      expect((await owner.open()).status).toBe(303)
      await owner.signIn()
      expect(textOf((await owner.open()).text)).toContain(`Your account ${owner.email}`)
    })

    test('gives the same response for the address of another account, whose owner is notified', async () => {
      const owner = await Owner.of(stack, host)
      const other = await Owner.of(stack, host)
      const taken = await owner.send('/address', { username: other.email })
      const free = await owner.send('/address', { username: `free-${owner.email}` })
      const words = (answer: Answer, email: string) => textOf(answer.text).replace(email, 'X')
      expect(words(taken, other.email)).toBe(words(free, `free-${owner.email}`))
      const told = await mailTo(stack, other.email, 'address-taken')
      expect(told.text).toContain('nothing has changed')
      expect(await allMailTo(stack, other.email, 'address-proof')).toEqual([])
      const own = await owner.send('/address', { username: owner.email })
      expect(textOf(own.text)).toContain('Is your address already')
    })

    test('lists sign-ins by their devices, and ends them', async () => {
      const owner = await Owner.of(stack, host)
      const tokens = await owner.party.tokens(owner.email)
      const shown = await owner.open()
      // One of them has a button, which says whose sign-in it ends.
      expect(textOf(shown.text).match(/An application/g)).toHaveLength(3)
      expect(textOf(shown.text)).toContain('this browser')
      const [session = ''] = [...shown.text.matchAll(/name="session" value="([^"]*)"/g)].map(
        ([, id]) => id ?? '',
      )
      const ended = await owner.press('sessions', { action: 'end', session })
      expect(textOf(ended.text)).toContain('That sign-in has ended.')
      expect(await owner.party.isTaken(tokens.access_token)).toBe(false)
      const again = await owner.press('sessions', { action: 'end', session }, shown)
      expect(textOf(again.text)).toContain('That sign-in has ended.')
      const third = await owner.party.tokens(owner.email)
      const all = await owner.press('sessions', { action: 'end-others' })
      expect(textOf(all.text)).toContain('Every other sign-in has ended.')
      expect(await owner.party.isTaken(third.access_token)).toBe(false)
      expect((await owner.open()).status).toBe(200)
    })

    test('ends no sign-in of another user', async () => {
      const owner = await Owner.of(stack, host)
      const other = await Owner.of(stack, host)
      const { site, pool } = other.party
      const [theirs] = await stack.context.sessions.list(site, pool, other.sub)
      await owner.press('sessions', { action: 'end', session: theirs?.sessionId ?? '' })
      expect((await other.open()).status).toBe(200)
    })

    test('gives everything that is kept, and nothing of others', async () => {
      const owner = await Owner.of(stack, host)
      await owner.send('/name', { name: 'Ann' })
      const admin = await stack.adminToken(host, 'admin')
      await stack.call(host, 'POST', `/admin/data/users/${owner.sub}/sign-out`, { token: admin })
      await owner.signIn()
      const answer = await owner.open('/export')
      expect(answer.headers).toMatchObject({
        'content-disposition': 'attachment; filename="account.json"',
        'cache-control': 'no-store',
      })
      const kept = answer.json
      expect(kept).toMatchObject({
        account: { sub: owner.sub, email: owner.email, name: 'Ann', role: null },
        signInMethods: {
          password: { changedAt: expect.any(String) },
          authenticatorApp: null,
          passkeys: [],
          providers: [],
        },
        groups: [],
        signIns: [{ method: 'password' }],
      })
      const events = kept.events.map(({ event }: { event: string }) => event)
      expect(events).toEqual(expect.arrayContaining(['user.changed', 'sessions.revoked']))
      const byAdmin = kept.events.find(
        ({ event }: { event: string }) => event === 'sessions.revoked',
      )
      expect(byAdmin).toMatchObject({ address: null, userAgent: null })
      expect(answer.text).not.toMatch(/argon2|"hash|tokenHash|actor/)
    })

    test('deletes no admin', async () => {
      const owner = await Owner.of(stack, host, 'admin')
      expect((await owner.open()).text).not.toContain('account/delete')
      const currentPassword = (await owner.mayUse(PASSWORD)) ? PASSWORD : BETTER
      const refused = await owner.send('/delete', { currentPassword, username: owner.email })
      expect(refused.status).toBe(409)
      expect((await owner.open()).status).toBe(200)
    })

    test.each([
      ['without a token', {}, {}],
      ['with a wrong token', { _csrf: 'x' }, {}],
    ])('does nothing for a form %s', async (_how, fields, headers) => {
      const owner = await Owner.of(stack, host)
      await owner.party.tokens(owner.email)
      for (const page of ['name', 'delete', 'sessions']) {
        const body = new URLSearchParams({
          ...fields,
          name: 'Eve',
          action: 'end-others',
        }).toString()
        const path = `${owner.party.path}/account/${page}`
        const answer = await owner.browser.post(path, body, { ...FORM, ...headers })
        expect(answer.status).toBe(403)
        expect(textOf(answer.text)).toContain('This page was open for too long')
      }
      const { site, pool } = owner.party
      expect(await stack.context.selfService.get({ site, pool }, owner.sub)).toMatchObject({
        name: null,
      })
      expect(await stack.context.sessions.list(site, pool, owner.sub)).toHaveLength(2)
    })

    test('takes no form that another site sends, whatever its token', async () => {
      const owner = await Owner.of(stack, host)
      const body = new URLSearchParams({ _csrf: csrfOf(await owner.open()) }).toString()
      const path = `${owner.party.path}/account/delete`
      const foreign = { ...FORM, 'sec-fetch-site': 'cross-site' }
      expect((await owner.browser.post(path, body, foreign)).status).toBe(403)
      expect((await owner.open()).status).toBe(200)
    })
  })

  test('is a client that gets no code, and that no program uses', async () => {
    const { party, browser } = await Owner.of(stack, 'one.test')
    const query = (changes: Record<string, string>) =>
      new URLSearchParams({
        client_id: 'account',
        redirect_uri: `${party.pool.issuer}/account`,
        response_type: 'code',
        scope: 'openid',
        ...changes,
      }).toString()
    const resumed = await browser.get(`${party.path}/oauth2/authorize?${query({})}`)
    expect(resumed.headers['location']).toBe(`${party.pool.issuer}/account`)
    const away = query({ redirect_uri: 'https://evil.test/' })
    expect((await browser.get(`${party.path}/oauth2/authorize?${away}`)).status).toBe(400)
    const grant = { client_id: 'account', redirect_uri: `${party.pool.issuer}/account` }
    expect(await party.exchange('x', grant)).toMatchObject({ status: 400 })
  })
})
