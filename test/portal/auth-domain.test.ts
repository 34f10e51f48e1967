import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type CallOptions, type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'

const SITES = ['one.test', 'two.test']
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('a visitors’ sign-in with a name of its own %s', (_where, baseUrl) => {
  let stack: Stack
  let changed: Answer[]
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...(baseUrl && { config: { baseUrl } }) })
    changed = []
    for (const host of SITES) {
      changed.push(await move(host, { authDomain: `auth.${host}`, formerAuthDomains: [] }))
    }
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const move = (host: string, names: object) => stack.portal('PATCH', `/sites/${host}`, names)
  const call = (host: string, method: string, path: string, options?: CallOptions) =>
    stack.call(host, method, path, options)
  const page = (host: string, path: string) => call(host, 'GET', path, { headers: PAGE })
  const originOf = (host: string) =>
    baseUrl === undefined ? stack.baseUrl(host) : `https://${host}`

  describe.each(SITES)('of %s', (host) => {
    const auth = `auth.${host}`
    const other = SITES.find((site) => site !== host) ?? host

    test('is shown to the operator and to applications', async () => {
      expect(changed.map(({ status }) => status)).toEqual([200, 200])
      const shown = await stack.portal('GET', `/sites/${host}`)
      expect(shown.json).toMatchObject({ domain: host, authDomain: auth, formerAuthDomains: [] })
      const trail = await stack.portal('GET', `/sites/${host}/audit?event=site.changed`)
      expect(trail.json.items.at(-1)).toMatchObject({
        actor: 'operator',
        detail: { changed: 'authDomain formerAuthDomains', domain: host, authDomain: auth },
      })
      const { data } = (await call(host, 'GET', '/data/auth/config')).json
      expect(data).toMatchObject({
        issuer: `${originOf(auth)}/oidc/${data.userPoolId}`,
        domain: `${originOf(auth)}/oidc/${data.userPoolId}`,
      })
      const document = await call(
        auth,
        'GET',
        `/oidc/${data.userPoolId}/.well-known/openid-configuration`,
      )
      expect(document.json).toMatchObject({
        issuer: data.issuer,
        token_endpoint: `${data.issuer}/oauth2/token`,
        jwks_uri: `${data.issuer}/.well-known/jwks.json`,
      })
      const keys = await call(auth, 'GET', `/oidc/${data.userPoolId}/.well-known/jwks.json`)
      expect(keys.json.keys).toHaveLength(1)
      const admins = await call(host, 'GET', '/admin/public/config')
      expect(admins.json.auth.issuer).toMatch(new RegExp(`^${originOf(host)}/oidc/`))
    })

    test('signs visitors in there, back to the site, whose /data takes the tokens', async () => {
      const party = await RelyingParty.of(stack, host)
      const { site, pool } = party
      const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
      const sub = await party.user(`vera@${host}`)
      if (!(await stack.context.ownPasswords.has(site, pool, sub))) {
        await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
      }
      const browser = new FormBrowser(stack, auth)
      const sent = await browser.get(party.page('oauth2/authorize'))
      const login = await browser.get(sent.headers['location'] ?? '')
      expect(textOf(login.text)).toContain(host)
      expect(login.text).toContain(`&#34;rpId&#34;:&#34;${host}&#34;`)
      const form = { username: `vera@${host}`, password: PASSWORD }
      const signedIn = await browser.submit(login, form, { origin: originOf(auth) })
      const back = new URL(signedIn.headers['location'] ?? '')
      expect(back.origin + back.pathname).toBe(`${originOf(host)}/auth/callback`)
      expect(back.searchParams.get('iss')).toBe(pool.issuer)
      const { access_token: token, refresh_token: refresh } = (
        await party.exchange(back.searchParams.get('code') ?? '')
      ).json
      const methods = await call(host, 'GET', '/data/auth/methods', { token })
      expect(methods).toMatchObject({ status: 200, json: { data: { email: `vera@${host}` } } })
      expect((await call(other, 'GET', '/data/auth/methods', { token })).status).toBe(401)
      expect((await party.refresh(refresh)).status).toBe(200)
      expect((await party.userInfo(token)).json).toMatchObject({ sub })
    })

    test('takes forms of its own origin alone', async () => {
      const party = await RelyingParty.of(stack, host)
      const browser = new FormBrowser(stack, auth)
      const login = await browser.get(party.page('login'))
      const form = { username: 'a@b.test', password: PASSWORD }
      const foreign = await browser.submit(login, form, { origin: originOf(host) })
      expect(foreign.status).toBe(403)
    })

    test('is nowhere else', async () => {
      const party = await RelyingParty.of(stack, host)
      const { path } = party
      const gone = [
        ['GET', '/.well-known/openid-configuration', undefined],
        ['GET', '/.well-known/jwks.json', undefined],
        ['GET', '/oauth2/userInfo', undefined],
        ['POST', '/oauth2/token', FORM],
        ['POST', '/', { 'content-type': 'application/x-amz-json-1.1' }],
      ] as const
      for (const [method, endpoint, headers] of gone) {
        const body = method === 'POST' ? '{}' : undefined
        const answer = await call(host, method, path + endpoint, {
          ...(headers && { headers }),
          ...(body && { body }),
        })
        expect([endpoint, answer.status]).toEqual([endpoint, 421])
        expect(answer.json).toMatchObject({ error: { baseUrl: originOf(auth) } })
      }
      for (const name of [party.page('login'), `${path}/account`]) {
        const answer = await page(host, name)
        expect([name, answer.status, answer.headers['location']]).toEqual([
          name,
          303,
          `${originOf(auth)}${name}`,
        ])
      }
      expect((await page(`auth.${other}`, party.page('login'))).status).toBe(404)
    })

    test('has nothing of the site and its administration beside it', async () => {
      const token = await stack.dataToken(host)
      const admins = await RelyingParty.of(stack, host, 'admin')
      const asked = [
        ['POST', '/data/nothing', { token, body: { payload: {} } }, 404],
        ['GET', '/data/auth/config', {}, 421],
        ['GET', '/admin/public/config', {}, 421],
        ['GET', '/admin/api/users', { token: await stack.adminToken(host) }, 421],
        ['POST', '/admin/public/contact', { body: {} }, 421],
        ['GET', `${admins.path}/.well-known/openid-configuration`, {}, 421],
        ['GET', `${admins.path}/.well-known/jwks.json`, {}, 421],
        ['GET', '/index.html', {}, 404],
        ['GET', '/a/page', { headers: PAGE }, 404],
        ['POST', '/', { headers: PAGE }, 404],
      ] as const
      for (const [method, path, options, status] of asked) {
        expect([path, (await call(auth, method, path, options)).status]).toEqual([path, status])
      }
      for (const [path, to] of [
        ['/', `${originOf(host)}/`],
        ['/admin', `${originOf(host)}/admin`],
        [admins.page('login'), `${originOf(host)}${admins.page('login')}`],
      ] as const) {
        const answer = await page(auth, path)
        expect([path, answer.status, answer.headers['location']]).toEqual([path, 303, to])
      }
    })

    test.each([
      ['the domain itself', () => host],
      ['a name beside the domain', () => `auth.${other}`],
      ['a name of another domain', () => 'auth.example'],
      ['a name that only ends like the domain', () => `auth${host}`],
      ['no name', () => 'auth'],
      ['a name with a path', () => `auth.${host}/x`],
    ])('is not %s', async (_what, name) => {
      const answer = await move(host, { authDomain: name() })
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
      expect(answer.json.error.message).toContain('authDomain')
    })

    test('is not the administration', async () => {
      const answer = await move(host, { adminDomain: auth })
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    })
  })

  test('has no name that another site uses', async () => {
    const names = { domain: 'shop.one.test', authDomain: 'auth.shop.one.test' }
    expect((await stack.portal('POST', '/sites', names)).status).toBe(200)
    for (const authDomain of ['shop.one.test', 'auth.shop.one.test']) {
      expect(await move('one.test', { authDomain })).toMatchObject({
        status: 409,
        json: { error: { code: 'SiteAlreadyExists' } },
      })
    }
    const taken = await stack.portal('POST', '/sites', { domain: 'auth.one.test' })
    expect(taken.status).toBe(409)
    expect((await stack.portal('POST', '/sites', { domain: 'localhost' })).status).toBe(200)
    expect((await move('localhost', { authDomain: 'auth.localhost' })).status).toBe(400)
    expect((await stack.portal('DELETE', '/sites/shop.one.test', { confirm: true })).status).toBe(
      204,
    )
  })

  test('comes with a new site, moves at every replica, and ends with its site', async () => {
    const second = await startStack({ beside: stack })
    const [domain, authDomain] = ['four.test', 'id.four.test']
    const created = await stack.portal('POST', '/sites', { domain, authDomain })
    expect(created.json).toMatchObject({ authDomain, formerAuthDomains: [] })
    const { path } = await RelyingParty.of(stack, domain)
    const at = async (name: string) =>
      (await second.call(name, 'GET', `${path}/.well-known/openid-configuration`)).status
    await vi.waitUntil(async () => (await at(authDomain)) === 200, PATIENCE)
    expect(await at(domain)).toBe(421)
    expect(await move(domain, { domain: 'five.test' })).toMatchObject({ status: 400 })
    const renamed = { domain: 'five.test', authDomain: 'auth.five.test' }
    expect((await move(domain, renamed)).json).toMatchObject({ ...renamed, formerAuthDomains: [] })
    await vi.waitUntil(async () => (await at('auth.five.test')) === 200, PATIENCE)
    await vi.waitUntil(async () => (await at(authDomain)) === 404, PATIENCE)
    expect((await stack.portal('DELETE', '/sites/five.test', { confirm: true })).status).toBe(204)
    await vi.waitUntil(async () => (await at('auth.five.test')) === 404, PATIENCE)
    await second[Symbol.asyncDispose]()
  })
})
