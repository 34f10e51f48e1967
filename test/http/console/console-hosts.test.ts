import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { consoleLabel } from '#sites/console-host.ts'
import { PASSWORD } from '#test/account-owner.ts'
import { FormBrowser } from '#test/form-browser.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']
const CONSOLES = 'console.localhost'
const PATIENCE = { timeout: 30_000 }

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: SITES })
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
})
afterAll(() => stack[Symbol.asyncDispose]())

const consoleOf = (domain: string) => `${consoleLabel(domain)}.${CONSOLES}`
const page = (host: string, path: string) => stack.call(host, 'GET', path, { headers: PAGE })
const issuerAt = (host: string, { path }: RelyingParty) => `${stack.baseUrl(host)}${path}`
const discovered = async (host: string, { path }: RelyingParty) => {
  const { json } = await stack.call(host, 'GET', `${path}/.well-known/openid-configuration`)
  return json.issuer
}

/** Signs an admin in at the issuer of a host, for the redirect URI. */
async function signedIn(party: RelyingParty, host: string, redirectUri: string) {
  const { site, pool } = party
  const email = `ann@${site.domain}`
  const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
  const sub = await party.user(email)
  if (!(await stack.context.ownPasswords.has(site, pool, sub))) {
    await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
  }
  const browser = new FormBrowser(stack, host)
  const asked = party.page('oauth2/authorize', { redirect_uri: redirectUri })
  const sent = await browser.get(asked)
  const login = await browser.get(sent.headers['location'] ?? '')
  const back = await browser.submit(login, { username: email, password: PASSWORD })
  const location = new URL(back.headers['location'] ?? '')
  const exchanged = await stack.call(host, 'POST', `${party.path}/oauth2/token`, {
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: pool.clientId,
      redirect_uri: redirectUri,
      code_verifier: party.verifier,
      code: location.searchParams.get('code') ?? '',
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  // The browser is signed in there from now on.
  const silent = await browser.get(`${asked}&prompt=none`)
  return { location, tokens: exchanged.json, silent: new URL(silent.headers['location'] ?? '') }
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe.each(SITES)('the console of %s', (domain) => {
  const host = consoleOf(domain)
  const other = SITES.find((site) => site !== domain) ?? domain

  test('has the administration, which stays on the domain as well', async () => {
    const token = await stack.adminToken(domain)
    for (const at of [domain, host]) {
      expect((await stack.call(at, 'GET', '/admin/api/users', { token })).status).toBe(200)
      const { json } = await stack.call(at, 'GET', '/admin/public/config')
      expect(json.siteDomain).toBe(domain)
      expect(json.auth.redirectUri).toBe(`${stack.baseUrl(domain)}/admin/callback`)
    }
    const elsewhere = await stack.call(consoleOf(other), 'GET', '/admin/api/users', { token })
    expect(elsewhere.status).toBe(401)
  })

  test('has an issuer of its own beside that of the domain', async () => {
    const party = await RelyingParty.of(stack, domain, 'admin')
    expect(await discovered(domain, party)).toBe(issuerAt(domain, party))
    expect(await discovered(host, party)).toBe(issuerAt(host, party))
    const visitors = await RelyingParty.of(stack, domain)
    expect(await discovered(host, visitors)).toBeUndefined()
    expect(await page(host, visitors.page('login'))).toMatchObject({
      status: 303,
      headers: { location: `${stack.baseUrl(domain)}${visitors.page('login')}` },
    })
  })

  test('signs admins in, whose tokens are good on both names', async () => {
    const party = await RelyingParty.of(stack, domain, 'admin')
    const places = [
      [host, `${stack.baseUrl(host)}/signed-in`],
      [domain, `${stack.baseUrl(domain)}/admin/callback`],
    ] as const
    for (const [at, redirectUri] of places) {
      const { location, tokens, silent } = await signedIn(party, at, redirectUri)
      expect(location.origin + location.pathname).toBe(redirectUri)
      expect(location.searchParams.get('iss')).toBe(issuerAt(at, party))
      expect(silent.origin + silent.pathname).toBe(redirectUri)
      expect(silent.searchParams.has('code')).toBe(true)
      expect(claimsOf(tokens.access_token).iss).toBe(issuerAt(at, party))
      expect(claimsOf(tokens.id_token).iss).toBe(issuerAt(at, party))
      for (const name of [domain, host]) {
        const answer = await stack.call(name, 'GET', '/admin/api/users', {
          token: tokens.access_token,
        })
        expect([name, answer.status]).toEqual([name, 200])
      }
      const refused = await stack.call(consoleOf(other), 'GET', '/admin/api/users', {
        token: tokens.access_token,
      })
      expect(refused.status).toBe(401)
    }
  })

  test('takes its own redirect URI, at its own issuer alone', async () => {
    const party = await RelyingParty.of(stack, domain, 'admin')
    const own = `${stack.baseUrl(host)}/signed-in`
    const statusOf = async (at: string, redirect_uri: string) =>
      (await page(at, party.page('oauth2/authorize', { redirect_uri }))).status
    expect(await statusOf(host, own)).toBe(303)
    expect(await statusOf(host, `${stack.baseUrl(domain)}/admin/callback`)).toBe(303)
    expect(await statusOf(domain, own)).toBe(400)
    const others = [
      `${stack.baseUrl(consoleOf(other))}/signed-in`,
      `${own}/`,
      `${own}?x=1`,
      `${stack.baseUrl(host)}/`,
      own.replace('http:', 'https:'),
    ]
    for (const uri of others) expect([uri, await statusOf(host, uri)]).toEqual([uri, 400])
    const logout = (at: string, to: string) => {
      const query = new URLSearchParams({ client_id: party.pool.clientId, logout_uri: to })
      return page(at, `${party.path}/logout?${query.toString()}`)
    }
    const home = `${stack.baseUrl(host)}/`
    expect((await logout(host, home)).headers['location']).toBe(home)
    expect((await logout(domain, home)).status).toBe(400)
  })

  test('has passkeys of its own', async () => {
    const party = await RelyingParty.of(stack, domain, 'admin')
    const rpIdAt = async (at: string) =>
      /rpId&#34;:&#34;([^&]*)/.exec((await page(at, party.page('login'))).text)?.[1]
    expect(await rpIdAt(host)).toBe(host)
    expect(await rpIdAt(domain)).toBe(domain)
  })

  test('is where people are led that ask for the administration', async () => {
    expect(await page(domain, '/admin')).toMatchObject({
      status: 303,
      headers: { location: `${stack.baseUrl(host)}/` },
    })
    expect(await page(host, '/admin')).toMatchObject({ status: 303, headers: { location: '/' } })
    const party = await RelyingParty.of(stack, domain, 'admin')
    for (const at of [domain, host]) {
      const program = await stack.call(at, 'GET', '/admin', { headers: { accept: '*/*' } })
      expect([at, program.headers['location']]).toEqual([at, `${party.path}/account`])
      const json = { accept: 'application/json' }
      expect((await stack.call(at, 'GET', '/admin', { headers: json })).status).toBe(404)
      const account = await page(at, `${party.path}/account`)
      expect(account.headers['location']).toContain(`${party.path}/oauth2/authorize`)
    }
  })

  test('is no place for what is of the site', async () => {
    const token = await stack.dataToken(domain)
    const run = { token, body: { payload: {} } }
    const asked = [
      ['POST', '/data/nothing', run, 404],
      ['POST', '/data/public/nothing', { body: {} }, 404],
      ['GET', '/data/auth/config', {}, 421],
      ['GET', '/site.git/info/refs?service=git-upload-pack', {}, 421],
      ['POST', '/', { headers: PAGE }, 404],
      ['PUT', '/a/page', {}, 404],
    ] as const
    for (const [method, path, options, status] of asked) {
      const answer = await stack.call(host, method, path, options)
      expect([path, answer.status]).toEqual([path, status])
    }
  })
})

describe('a name below the console domain', () => {
  const statusOf = async (host: string) =>
    (await stack.call(host, 'GET', '/admin/public/config')).status

  test.each([
    CONSOLES,
    `three-test.${CONSOLES}`,
    `one--test.${CONSOLES}`,
    `0-one-test-0.${CONSOLES}`,
    `x.one-test.${CONSOLES}`,
    `one-test.x.${CONSOLES}`,
    `one-test.${CONSOLES}.test`,
    `-.${CONSOLES}`,
    `${'0'.repeat(32)}-0.${CONSOLES}`,
  ])('"%s" is of no site', async (host) => {
    expect(await statusOf(host)).toBe(404)
  })

  test.each([
    ['domain', () => stack.portal('POST', '/sites', { domain: `evil.${CONSOLES}` })],
    ['domain', () => stack.portal('POST', '/sites', { domain: CONSOLES })],
    [
      'adminDomain',
      () => stack.portal('PATCH', '/sites/one.test', { adminDomain: `a.${CONSOLES}` }),
    ],
    ['domain', () => stack.portal('PATCH', '/sites/one.test', { domain: `two-test.${CONSOLES}` })],
  ])('is no %s of a site', async (field, ask) => {
    const answer = await ask()
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.text).toContain(`${field}: `)
    expect(await statusOf(consoleOf('two.test'))).toBe(200)
  })

  test('is found for long domains and hyphens, each for its own site', async () => {
    const long = `${'a-'.repeat(20)}a.${'b'.repeat(40)}.example`
    const domains = ['cafe-bar.test', 'cafe.bar.test', 'my-cafe.test', 'xn--caf-dma.test', long]
    for (const domain of domains) await stack.createSite({ domain })
    const found = await Promise.all(
      domains.map(async (domain) => {
        const { json } = await stack.call(consoleOf(domain), 'GET', '/admin/public/config')
        return json.siteDomain
      }),
    )
    expect(found).toEqual(domains)
    expect(new Set(domains.map(consoleOf)).size).toBe(domains.length)
  })

  test('moves with the domain, and leaves for a name of its own, at every replica', async () => {
    const second = await startStack({ beside: stack })
    const at = async (host: string) =>
      (await second.call(host, 'GET', '/admin/public/config')).status
    const becomes = (host: string, status: number) =>
      vi.waitUntil(async () => (await at(host)) === status, PATIENCE)
    const change = (site: string, names: object) => stack.portal('PATCH', `/sites/${site}`, names)
    await stack.createSite({ domain: 'moving.test' })
    await becomes(consoleOf('moving.test'), 200)
    expect(await at(consoleOf('moved.test'))).toBe(404)
    expect((await change('moving.test', { domain: 'moved.test' })).status).toBe(200)
    await becomes(consoleOf('moving.test'), 404)
    await becomes(consoleOf('moved.test'), 200)
    const party = await RelyingParty.of(second, 'moved.test', 'admin')
    const { json } = await second.call(
      consoleOf('moved.test'),
      'GET',
      `${party.path}/.well-known/openid-configuration`,
    )
    expect(new URL(json.issuer).hostname).toBe(consoleOf('moved.test'))
    await change('moved.test', { adminDomain: 'admin.moved.test' })
    await becomes(consoleOf('moved.test'), 404)
    await becomes('admin.moved.test', 200)
    await change('moved.test', { adminDomain: null })
    await becomes(consoleOf('moved.test'), 200)
    await stack.portal('DELETE', '/sites/moved.test', { confirm: true })
    await becomes(consoleOf('moved.test'), 404)
    await second[Symbol.asyncDispose]()
  })
})

test('an installation without a console domain has consoles at names of administrations alone', async () => {
  const config = { consoleDomain: undefined }
  await using plain = await startStack({ sites: ['plain.test'], config })
  const at = async (host: string) => (await plain.call(host, 'GET', '/admin/public/config')).status
  expect(await at(consoleOf('plain.test'))).toBe(404)
  const party = await RelyingParty.of(plain, 'plain.test', 'admin')
  const entrance = await plain.call('plain.test', 'GET', '/admin', { headers: PAGE })
  expect(entrance.headers['location']).toBe(`${party.path}/account`)
  const adminDomain = 'admin.plain.test'
  await plain.portal('PATCH', '/sites/plain.test', { adminDomain })
  const own = `${plain.baseUrl(adminDomain)}/signed-in`
  const asked = party.page('oauth2/authorize', { redirect_uri: own })
  expect((await plain.call(adminDomain, 'GET', asked, { headers: PAGE })).status).toBe(303)
  expect(await plain.call(adminDomain, 'GET', '/admin', { headers: PAGE })).toMatchObject({
    status: 303,
    headers: { location: '/' },
  })
  const settings = await plain.portal('GET', '/sites/plain.test/auth')
  expect(settings.text).toContain(`${plain.baseUrl(adminDomain)}/admin/callback`)
  expect(settings.text).not.toContain(own)
})
