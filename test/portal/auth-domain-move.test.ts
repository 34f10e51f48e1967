import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { authorizeUrlFor } from '#test/google-link.ts'
import {
  type GoogleWalk,
  googleFor,
  isProviderCallback,
  signInClient,
} from '#test/google-sign-in.ts'
import { RelyingParty, type SignedInBrowser, type Tokens } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'
import { PASSWORD } from '#test/visitors.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const SITES = ['one.test', 'two.test']
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('a visitors’ sign-in that moves %s', (_where, baseUrl) => {
  let stack: Stack
  let before: RelyingParty
  let after: RelyingParty
  let signedIn: Tokens & SignedInBrowser
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...(baseUrl && { config: { baseUrl } }) })
    before = await RelyingParty.of(stack, 'one.test')
    signedIn = await before.tokens('vera@one.test')
    await stack.portal('PATCH', '/sites/one.test', { authDomain: 'auth.one.test' })
    after = await RelyingParty.of(stack, 'one.test')
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const originOf = (host: string) =>
    baseUrl === undefined ? stack.baseUrl(host) : `https://${host}`
  const open = (url: string, cookie?: string) => {
    const at = new URL(url)
    const headers = { ...PAGE, ...(cookie !== undefined && { cookie }) }
    return stack.call(at.hostname, 'GET', at.pathname + at.search, { headers })
  }
  const discovery = (host: string) =>
    stack.call(host, 'GET', `${before.path}/.well-known/openid-configuration`)

  test('keeps the former name until it is ended', async () => {
    const { json } = await stack.portal('GET', '/sites/one.test')
    expect(json).toMatchObject({ authDomain: 'auth.one.test', formerAuthDomains: ['one.test'] })
  })

  test('has a document of each issuer with endpoints of its own', async () => {
    for (const [host, party] of [
      ['one.test', before],
      ['auth.one.test', after],
    ] as const) {
      const { json } = await discovery(host)
      expect(json).toMatchObject({
        issuer: `${originOf(host)}${party.path}`,
        authorization_endpoint: `${originOf(host)}${party.path}/oauth2/authorize`,
        token_endpoint: `${originOf(host)}${party.path}/oauth2/token`,
      })
    }
    const { data } = (await stack.call('one.test', 'GET', '/data/auth/config')).json
    expect(data.issuer).toBe(after.pool.issuer)
  })

  test('lets earlier tokens go on, and refreshes under the issuer that is asked', async () => {
    expect(await before.isTaken(signedIn.access_token)).toBe(true)
    expect((await before.userInfo(signedIn.access_token)).status).toBe(200)
    expect((await after.userInfo(signedIn.access_token)).status).toBe(200)
    const there = await before.refresh(signedIn.refresh_token)
    expect(decodeJwt(there.json.access_token).iss).toBe(before.pool.issuer)
    expect(await before.isTaken(there.json.access_token)).toBe(true)
    const here = await after.refresh(there.json.refresh_token)
    expect(decodeJwt(here.json.access_token).iss).toBe(after.pool.issuer)
    expect(decodeJwt(here.json.id_token).iss).toBe(after.pool.issuer)
    expect(await before.isTaken(here.json.access_token)).toBe(true)
    const other = await stack.call('two.test', 'POST', '/data/nothing', {
      token: here.json.access_token,
      body: { payload: {} },
    })
    expect(other.status).toBe(401)
  })

  test('answers a client of the former issuer in the name of that one', async () => {
    const sent = await open(`${before.pool.issuer}/oauth2/authorize?${before.params().toString()}`)
    expect(sent.status).toBe(303)
    const at = new URL(sent.headers['location'] ?? '')
    expect(at.origin + at.pathname).toBe(`${after.pool.issuer}/oauth2/authorize`)
    const now = await after.signIn(await after.user('vera@one.test'))
    const answered = await open(at.href, now.cookie)
    const back = new URL(answered.headers['location'] ?? '')
    expect(back.origin + back.pathname).toBe(before.redirectUri)
    expect(back.searchParams.get('iss')).toBe(before.pool.issuer)
    const tokens = await before.exchange(back.searchParams.get('code') ?? '')
    expect(decodeJwt(tokens.json.id_token)).toMatchObject({ iss: before.pool.issuer })
    const direct = await after.authorize({}, now.cookie)
    expect(new URL(direct.headers['location'] ?? '').searchParams.get('iss')).toBe(
      after.pool.issuer,
    )
    const invented = { response_iss: 'https://evil.test/oidc/x' }
    const own = await after.get(
      `/oauth2/authorize?${after.params().toString()}&${new URLSearchParams(invented).toString()}`,
      now.cookie,
    )
    expect(new URL(own.headers['location'] ?? '').searchParams.get('iss')).toBe(after.pool.issuer)
  })

  test('redirects posted requests of the former name with their body', async () => {
    for (const page of ['oauth2/authorize', 'logout']) {
      const sent = await stack.call('one.test', 'POST', `${before.path}/${page}`, {
        headers: { ...PAGE, ...FORM },
        body: before.params().toString(),
      })
      expect([page, sent.status]).toEqual([page, 307])
      expect(sent.headers['location']).toContain(`${after.pool.issuer}/${page}`)
    }
  })

  test('lets no cookie of the former name count on the site’s origin', async () => {
    for (const page of ['account', 'login', 'account/passkey', 'oauth2/authorize']) {
      const answer = await open(
        `${before.pool.issuer}/${page}?${before.params().toString()}`,
        signedIn.cookie,
      )
      expect([page, answer.status]).toEqual([page, 303])
      expect(new URL(answer.headers['location'] ?? '').hostname).toBe('auth.one.test')
    }
    const post = await stack.call('one.test', 'POST', `${before.path}/account/sessions`, {
      headers: { ...PAGE, ...FORM, cookie: signedIn.cookie },
      body: '_csrf=x',
    })
    expect(post.status).toBe(421)
  })

  test('ends both sign-ins at a logout, from either issuer', async () => {
    for (const party of [before, after]) {
      const sub = await before.user('vera@one.test')
      const [old, now] = [await before.signIn(sub), await after.signIn(sub)]
      const tokens = (await before.exchange(old.code)).json
      const query = new URLSearchParams({
        client_id: party.pool.clientId,
        logout_uri: party.logoutUri,
      })
      const first = await open(`${party.pool.issuer}/logout?${query.toString()}`, old.cookie)
      const atNew =
        party === before
          ? await open(first.headers['location'] ?? '', now.cookie)
          : await open(`${party.pool.issuer}/logout?${query.toString()}`, now.cookie)
      const hop = new URL(atNew.headers['location'] ?? '')
      expect(hop.origin + hop.pathname).toBe(`${before.pool.issuer}/logout/former`)
      const done = await open(hop.href, old.cookie)
      expect(done.headers['location']).toBe(party.logoutUri)
      expect(done.headers['set-cookie']).toContain('Expires=Thu, 01 Jan 1970')
      expect((await before.refresh(tokens.refresh_token)).status).toBe(400)
      expect(await before.isTaken(tokens.access_token)).toBe(false)
      const again = await after.authorize({ prompt: 'none' }, now.cookie)
      expect(again.headers['location']).toContain('error=login_required')
    }
    for (const next of ['', 'x', 'a'.repeat(300)]) {
      const forged = await open(`${before.pool.issuer}/logout/former?next=${next}`)
      expect(forged.status).toBe(410)
    }
  })

  test('is nothing to a logout of admins', async () => {
    const admins = await RelyingParty.of(stack, 'one.test', 'admin')
    const query = new URLSearchParams({
      client_id: admins.pool.clientId,
      logout_uri: admins.logoutUri,
    })
    const done = await open(`${admins.pool.issuer}/logout?${query.toString()}`)
    expect(done.headers['location']).toBe(admins.logoutUri)
  })

  test('is ended by the operator, and then answers nothing', async () => {
    const late = await before.tokens('late@one.test')
    expect(await before.isTaken(late.access_token)).toBe(true)
    const ended = await stack.portal('PATCH', '/sites/one.test', { formerAuthDomains: [] })
    expect(ended.json).toMatchObject({ authDomain: 'auth.one.test', formerAuthDomains: [] })
    expect((await discovery('one.test')).status).toBe(421)
    expect((await before.refresh(late.refresh_token)).status).toBe(421)
    expect(await before.isTaken(late.access_token)).toBe(false)
    expect((await after.refresh(late.refresh_token)).status).toBe(200)
  })

  test('moves back, and from name to name', async () => {
    const to = async (names: object) => (await stack.portal('PATCH', '/sites/one.test', names)).json
    expect(await to({ authDomain: 'id.one.test' })).toMatchObject({
      authDomain: 'id.one.test',
      formerAuthDomains: ['auth.one.test'],
    })
    expect((await discovery('auth.one.test')).json.issuer).toBe(after.pool.issuer)
    expect((await discovery('id.one.test')).json.issuer).toContain('//id.one.test')
    const page = await open(`${after.pool.issuer}/account`)
    expect(page.headers['location']).toContain('//id.one.test')
    expect(await to({ authDomain: null })).toMatchObject({
      authDomain: null,
      formerAuthDomains: ['auth.one.test', 'id.one.test'],
    })
    expect((await discovery('id.one.test')).json.issuer).toContain('//id.one.test')
    expect((await discovery('one.test')).json.issuer).toBe(before.pool.issuer)
    const wrong = { formerAuthDomains: ['auth.two.test'] }
    expect((await stack.portal('PATCH', '/sites/one.test', wrong)).status).toBe(400)
    await to({ formerAuthDomains: [] })
    expect((await stack.call('id.one.test', 'GET', '/')).status).toBe(404)
  })
})

describe('Google at a site whose sign-in moves', () => {
  let stack: Stack
  let google: Awaited<ReturnType<typeof googleFor>>
  beforeAll(async () => {
    stack = await startStack({ sites: SITES })
    google = await googleFor(stack, SITES, { alsoAt: ['auth.two.test'] })
    google.person = { subject: 'g-1', email: 'vera@gmail.test' }
  })
  afterAll(async () => {
    await google[Symbol.asyncDispose]()
    await stack[Symbol.asyncDispose]()
  })

  const provider = async (host: string) =>
    (await stack.portal('GET', `/sites/${host}/auth/providers`)).json.items[0]
  const signIn = async (host: string): Promise<GoogleWalk> => {
    const client = await signInClient(stack, host, { identity_provider: 'Google' })
    return { ...(await new WalkingBrowser().open(client.authorizeUrl)), client }
  }

  const withPassword = async (party: RelyingParty, email: string) => {
    const { site, pool } = party
    const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
    const sub = await party.user(email)
    await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
    return party.tokens(email)
  }
  const callbacksOf = ({ steps }: GoogleWalk): string[] =>
    steps
      .map(({ url }) => new URL(url))
      .filter(isProviderCallback)
      .map(({ hostname }) => hostname)

  test('goes on with the callback that it knows, and ends on the new name', async () => {
    await stack.portal('PATCH', '/sites/one.test', { authDomain: 'auth.one.test' })
    const record = await provider('one.test')
    expect(new URL(record.redirectUri).hostname).toBe('auth.one.test')
    expect(new URL(record.redirectUriInUse).hostname).toBe('one.test')
    const walk = await signIn('one.test')
    expect(callbacksOf(walk)).toEqual(['one.test', 'auth.one.test'])
    expect(walk.url.searchParams.get('code')).not.toBeNull()
  })

  test('has doctor say what is left to do', async () => {
    const { findings } = (await stack.portal('GET', '/diagnosis')).json
    const said = findings.filter(({ part }: { part: string }) => part === 'sign-in')
    const { redirectUri } = await provider('one.test')
    expect(said).toEqual([
      expect.objectContaining({
        level: 'warning',
        says: expect.stringContaining(`Google does not know ${redirectUri}`),
      }),
      expect.objectContaining({
        level: 'warning',
        says: 'programs may still sign visitors of one.test in at one.test',
        advice: expect.stringContaining('croft site update one.test --end-former-auth'),
      }),
    ])
  })

  test('does not change over while the new callback is not registered', async () => {
    const check = await stack.portal('POST', '/sites/one.test/auth/providers/google/callback')
    expect(check).toMatchObject({ status: 200, json: { registered: false } })
    const record = await provider('one.test')
    expect(record.redirectUriInUse).not.toBe(record.redirectUri)
  })

  test('changes over as soon as it is', async () => {
    await stack.portal('PATCH', '/sites/two.test', { authDomain: 'auth.two.test' })
    const { redirectUri, redirectUriInUse } = await provider('two.test')
    expect(new URL(redirectUriInUse).hostname).toBe('two.test')
    const { findings } = (await stack.portal('GET', '/diagnosis')).json
    const says = `sign-ins with Google at two.test use ${redirectUri} from now on`
    expect(findings).toContainEqual({ part: 'sign-in', level: 'ok', says, advice: null })
    const check = () => stack.portal('POST', '/sites/two.test/auth/providers/google/callback')
    expect((await check()).json).toEqual({ redirectUri, registered: true })
    expect((await check()).json).toEqual({ redirectUri, registered: true })
    expect(await provider('two.test')).toMatchObject({ redirectUri, redirectUriInUse: redirectUri })
    expect(callbacksOf(await signIn('two.test'))).toEqual(['auth.two.test'])
  })

  test('lets a signed-in person add it from the site’s origin', async () => {
    const party = await RelyingParty.of(stack, 'one.test')
    google.person = { subject: 'g-2', email: 'adds@gmail.test' }
    const tokens = await withPassword(party, 'adds@one.test')
    const { url, answer } = await authorizeUrlFor(stack, 'one.test', tokens.access_token)
    expect(new URL(url).hostname).toBe('auth.one.test')
    const cookie = answer.headers['set-cookie'] ?? ''
    expect(cookie).toContain('Domain=one.test')
    const browser = new WalkingBrowser()
    browser.keep(new URL(url), cookie)
    const walk = await browser.open(url)
    expect(walk.url.searchParams.get('error')).toBeNull()
    expect(walk.url.searchParams.get('code')).not.toBeNull()
    const other = await new WalkingBrowser().open(
      (
        await authorizeUrlFor(
          stack,
          'one.test',
          (await withPassword(party, 'more@one.test')).access_token,
        )
      ).url,
    )
    expect(other.url.searchParams.get('error')).not.toBeNull()
  })

  test('uses the callback of now for a client that is set up afterwards', async () => {
    const body = { clientId: 'another', clientSecret: 'secret', issuer: google.issuer }
    await stack.portal('PUT', '/sites/two.test/auth/providers/google', body)
    const record = await provider('two.test')
    expect(record.redirectUriInUse).toBe(record.redirectUri)
    expect(new URL(record.redirectUri).hostname).toBe('auth.two.test')
  })
})
