import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FakeGoogle } from '#test/fake-google.ts'
import {
  accountOf,
  answerOf,
  googleClientOf,
  googleFor,
  lastEvent,
  setUpGoogle,
  signInClient,
  walkToCallback,
  walkToGoogle,
} from '#test/google-sign-in.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'

let stack: Stack
let google: FakeGoogle
beforeAll(async () => {
  stack = await startStack({ sites: [HOST, 'two.test', 'closed.test'] })
  google = await googleFor(stack, [HOST, 'two.test', 'closed.test'])
})
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const signIn = async (browser = new WalkingBrowser(), host = HOST) =>
  accountOf(stack, await walkToGoogle(stack, host, browser))

const usersWith = (email: string): Promise<number> =>
  asSuperuser(stack, async (sql) => {
    const rows = await sql`select 1 from pool_user where email = ${email}`
    return rows.length
  })

describe('a sign-in with Google', () => {
  test('makes an account at first, and gives the client what a password would', async () => {
    google.person = { subject: 'g-mia', email: 'Mia@Example.test' }
    const walk = await walkToGoogle(stack, HOST)
    expect(answerOf(walk)).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: walk.client.state,
      iss: walk.client.issuer,
    })
    expect(await accountOf(stack, walk)).toMatchObject({
      email: 'mia@example.test',
      email_verified: true,
      nonce: walk.client.nonce,
    })
    expect(await lastEvent(stack, 'provider.sign-up')).toMatchObject({
      email: 'mia@example.test',
      client_id: walk.client.clientId,
      detail: { provider: 'Google' },
    })
  })

  test('comes back to the same account, whatever the address is by then', async () => {
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const { sub } = await signIn()
    google.person = { subject: 'g-mia', email: 'mia.new@example.test' }
    expect(await signIn()).toMatchObject({ sub, email: 'mia@example.test' })
    google.person = { subject: 'g-mia', email: 'mia@example.test', emailVerified: false }
    expect(await signIn()).toMatchObject({ sub, email: 'mia@example.test' })
    google.person = { subject: 'g-mia' }
    expect(await signIn()).toMatchObject({ sub, email: 'mia@example.test' })
  })

  test('is another account on another site', async () => {
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const [one, two] = [await signIn(), await signIn(new WalkingBrowser(), 'two.test')]
    expect(two.email).toBe(one.email)
    expect(two.sub).not.toBe(one.sub)
  })

  test('signs the browser in, so that it need not go to Google again', async () => {
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const browser = new WalkingBrowser()
    const { sub } = await signIn(browser)
    google.asked.length = 0
    expect(await signIn(browser)).toMatchObject({ sub })
    expect(google.asked).toEqual([])
  })

  test('goes to Google with its own state, nonce and proof key, none of them twice', async () => {
    google.asked.length = 0
    const clients = [
      (await walkToGoogle(stack, HOST)).client,
      (await walkToGoogle(stack, HOST)).client,
    ]
    const asked = google.asked.map((params) => Object.fromEntries(params))
    for (const params of asked) {
      expect(params).toEqual({
        response_type: 'code',
        client_id: googleClientOf(HOST).clientId,
        redirect_uri: `${clients[0]?.issuer}/oauth2/idpresponse`,
        scope: 'openid email profile',
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: 'S256',
      })
    }
    const secrets = asked.flatMap(({ state, nonce, code_challenge }) => [
      state,
      nonce,
      code_challenge,
    ])
    expect(new Set(secrets).size).toBe(6)
    const ours = clients.flatMap(({ state, nonce }) => [state, nonce])
    expect(secrets.filter((secret) => ours.includes(secret ?? ''))).toEqual([])
  })

  test('asks Google for exactly the configured scopes, whatever the client asks us for', async () => {
    const scopes = ['openid', 'https://www.googleapis.com/auth/userinfo.email', 'email', 'profile']
    await stack.portal('PUT', `/sites/two.test/auth/providers/google`, { scopes })
    const { data } = (await stack.call('two.test', 'GET', '/data/auth/config')).json
    expect(data.providers.google.scopes).toEqual(scopes)
    google.asked.length = 0
    google.person = { subject: 'g-scopes', email: 'scopes@example.test' }
    const scope = data.providers.google.scopes.join(' ')
    const walk = await walkToGoogle(stack, 'two.test', new WalkingBrowser(), { scope })
    expect(await accountOf(stack, walk)).toMatchObject({ email: 'scopes@example.test' })
    await walkToGoogle(stack, 'two.test', new WalkingBrowser(), { scope: 'openid' })
    expect(google.asked.map((params) => params.get('scope'))).toEqual([scope, scope])
    await setUpGoogle(stack, 'two.test', google.issuer)
  })

  test.each<[Record<string, string>, Record<string, string>]>([
    [{ prompt: 'login' }, { prompt: 'login', max_age: '0' }],
    [{ max_age: '300' }, { max_age: '300' }],
    [{ login_hint: 'mia@example.test' }, { login_hint: 'mia@example.test' }],
    [{ prompt: 'consent' }, { prompt: 'consent' }],
  ])('hands the client’s %j on', async (changes, expected) => {
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const asked = google.asked.length
    const walk = await walkToGoogle(stack, HOST, new WalkingBrowser(), changes)
    expect(Object.fromEntries(google.asked.at(-1) ?? [])).toMatchObject(expected)
    expect(google.asked.length).toBeGreaterThan(asked)
    expect(await accountOf(stack, walk)).toMatchObject({ email: 'mia@example.test' })
  })

  test('works in two tabs of one browser at once', async () => {
    google.person = { subject: 'g-tabs', email: 'tabs@example.test' }
    const browser = new WalkingBrowser()
    const [first, second] = [
      await walkToCallback(stack, HOST, browser),
      await walkToCallback(stack, HOST, browser),
    ]
    const [one, other] = [await browser.open(second.url.href), await browser.open(first.url.href)]
    const subs = [
      await accountOf(stack, { ...one, client: second.client }),
      await accountOf(stack, { ...other, client: first.client }),
    ].map(({ sub }) => sub)
    expect(new Set(subs).size).toBe(1)
  })

  test('of two new ones of one person at the same moment makes one account', async () => {
    google.person = { subject: 'g-race', email: 'race@example.test' }
    const walks = []
    for (let count = 0; count < 4; count += 1) {
      const browser = new WalkingBrowser()
      walks.push({ browser, ...(await walkToCallback(stack, HOST, browser)) })
    }
    const ends = await Promise.all(
      walks.map(async ({ browser, url, client }) => ({
        ...(await browser.open(url.href)),
        client,
      })),
    )
    const subs = new Set<string | undefined>()
    for (const end of ends) subs.add((await accountOf(stack, end)).sub)
    expect(subs.size).toBe(1)
    expect(await usersWith('race@example.test')).toBe(1)
  })

  test('keeps no state, verifier or nonce readable in the database', async () => {
    const { url } = await walkToCallback(stack, HOST, new WalkingBrowser())
    const state = url.searchParams.get('state') ?? ''
    const hash = createHash('sha256').update(state).digest()
    const rows = await asSuperuser(
      stack,
      (sql) => sql<{ row: string; sealed: Buffer }[]>`
        select to_jsonb(v)::text as row, sealed_visit as sealed
        from provider_visit v where state_hash = ${hash}`,
    )
    expect(rows).toHaveLength(1)
    for (const secret of [state, google.asked.at(-1)?.get('nonce') ?? '', HOST]) {
      expect(rows[0]?.row).not.toContain(secret)
      expect(rows[0]?.sealed.includes(secret)).toBe(false)
    }
  })

  test('takes the address from the user info where the id token has none', async () => {
    await using other = await googleFor(stack, ['two.test'], { claimsIn: 'user-info' })
    other.person = { subject: 'u-1', email: 'info@example.test' }
    expect(await signIn(new WalkingBrowser(), 'two.test')).toMatchObject({
      email: 'info@example.test',
      email_verified: true,
    })
    await setUpGoogle(stack, 'two.test', google.issuer)
  })
})

describe('two sites at once', () => {
  test('sign in with providers of their own, each with its own people', async () => {
    await using other = await googleFor(stack, ['two.test'])
    google.person = { subject: 'same', email: 'here@example.test' }
    other.person = { subject: 'same', email: 'there@example.test' }
    const [here, there] = await Promise.all([
      signIn(new WalkingBrowser(), HOST),
      signIn(new WalkingBrowser(), 'two.test'),
    ])
    expect([here.email, there.email]).toEqual(['here@example.test', 'there@example.test'])
    await setUpGoogle(stack, 'two.test', google.issuer)
  })

  test('do not take each other’s answers', async () => {
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    const { issuer } = await signInClient(stack, 'two.test')
    const elsewhere = await browser.open(`${issuer}/oauth2/idpresponse${url.search}`)
    expect(elsewhere.answer.status).toBe(410)
    const admin = await signInClient(stack, HOST, {}, 'admin')
    const otherPool = await browser.open(`${admin.issuer}/oauth2/idpresponse${url.search}`)
    expect(otherPool.answer.status).toBe(410)
    expect(answerOf(await browser.open(url.href))).toHaveProperty('code')
  })
})

describe('the admin pool', () => {
  test('has no Google', async () => {
    const client = await signInClient(stack, HOST, { identity_provider: 'Google' }, 'admin')
    const walk = await new WalkingBrowser().open(client.authorizeUrl)
    expect(answerOf(walk)).toMatchObject({ error: 'invalid_request', state: client.state })
  })
})

describe('an address that Google has not verified', () => {
  test.each<[string, { email?: string; emailVerified?: unknown }, RegExp]>([
    ['says false', { email: 'a1@example.test', emailVerified: false }, /not confirmed/],
    ['says "true"', { email: 'a2@example.test', emailVerified: 'true' }, /not confirmed/],
    ['says 1', { email: 'a3@example.test', emailVerified: 1 }, /not confirmed/],
    ['names an address that is none', { email: 'nobody' }, /not confirmed/],
    ['names one that looks like another’s', { email: '\u212Aim@example.test' }, /not confirmed/],
    ['names none', {}, /did not tell/],
    ['names an empty one', { email: '' }, /did not tell/],
  ])('gets no account when it %s', async (what, person, words) => {
    google.person = { subject: `unvouched ${what}`.replaceAll(/[^\w ]/g, ''), ...person }
    const browser = new WalkingBrowser()
    const { answer } = await walkToGoogle(stack, HOST, browser)
    expect(answer.status).toBe(403)
    expect(answer.text).toMatch(words)
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    expect(browser.cookie('croft_session')).toBeUndefined()
    expect(await usersWith(person.email?.toLowerCase() ?? '')).toBe(0)
  })
})

describe('a site that takes no strangers', () => {
  test('makes no account, and lets in those who have one', async () => {
    google.person = { subject: 'g-old', email: 'old@example.test' }
    const { sub } = await signIn(new WalkingBrowser(), 'closed.test')
    const closed = await stack.portal('PATCH', '/sites/closed.test/auth', {
      data: { selfSignUp: false },
    })
    expect(closed.status, closed.text).toBe(200)
    google.person = { subject: 'g-stranger', email: 'stranger@example.test' }
    const { answer } = await walkToGoogle(stack, 'closed.test')
    expect(answer.status).toBe(403)
    expect(answer.text).toMatch(/not open to everyone/)
    expect(await usersWith('stranger@example.test')).toBe(0)
    google.person = { subject: 'g-old', email: 'old@example.test' }
    expect(await signIn(new WalkingBrowser(), 'closed.test')).toMatchObject({ sub })
  })
})

describe('two replicas', () => {
  test('carry one sign-in between them', async () => {
    await using other = await startStack({ beside: stack })
    google.person = { subject: 'g-replica', email: 'replica@example.test' }
    const browser = new WalkingBrowser()
    const { url, client } = await walkToCallback(stack, HOST, browser)
    browser.ports.set(String(stack.port), String(other.port))
    const walk = await browser.open(url.href)
    expect(await accountOf(stack, { ...walk, client })).toMatchObject({
      email: 'replica@example.test',
    })
  })
})
