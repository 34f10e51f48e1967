import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type CallOptions, type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']
const GOOD = 'Correct-horse-7'
/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('an administration with a name of its own %s', (_where, baseUrl) => {
  let stack: Stack
  let changed: Answer[]
  const old = new Map<string, string>()
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...(baseUrl && { config: { baseUrl } }) })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    for (const host of SITES) old.set(host, await stack.adminToken(host))
    changed = []
    for (const host of SITES) changed.push(await move(host, `admin.${host}`))
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const move = (host: string, adminDomain: string | null) =>
    stack.portal('PATCH', `/sites/${host}`, { adminDomain })
  const call = (host: string, method: string, path: string, options?: CallOptions) =>
    stack.call(host, method, path, options)
  const page = (host: string, path: string) => call(host, 'GET', path, { headers: PAGE })
  const originOf = (host: string) =>
    baseUrl === undefined ? stack.baseUrl(host) : `https://${host}`

  describe.each(SITES)('of %s', (host) => {
    const admin = `admin.${host}`
    const other = SITES.find((site) => site !== host) ?? host

    test('is shown to the operator and to applications', async () => {
      expect(changed.map(({ status }) => status)).toEqual([200, 200])
      const shown = await stack.portal('GET', `/sites/${host}`)
      expect(shown.json).toMatchObject({ domain: host, adminDomain: admin })
      const trail = await stack.portal('GET', `/sites/${host}/audit?event=site.changed`)
      expect(trail.json.items.at(-1)).toMatchObject({
        actor: 'operator',
        detail: { changed: 'adminDomain', domain: host, adminDomain: admin },
      })
      for (const name of [host, admin]) {
        const { json } = await call(name, 'GET', '/admin/public/config')
        expect(json.auth.issuer).toMatch(new RegExp(`^${originOf(admin)}/oidc/`))
        expect(json.auth.redirectUri).toBe(`${originOf(admin)}/admin/callback`)
        expect(json.siteDomain).toBe(host)
      }
      const visitors = await call(host, 'GET', '/data/auth/config')
      expect(visitors.json.data.issuer).toMatch(new RegExp(`^${originOf(host)}/oidc/`))
    })

    test('signs admins in there, and takes their tokens there alone', async () => {
      const party = await RelyingParty.of(stack, host, 'admin')
      const { site, pool } = party
      const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
      const sub = await party.user(`ann@${host}`)
      if (!(await stack.context.ownPasswords.has(site, pool, sub))) {
        await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
      }
      const browser = new FormBrowser(stack, admin)
      const sent = await browser.get(party.page('oauth2/authorize'))
      const login = await browser.get(sent.headers['location'] ?? '')
      expect(textOf(login.text)).toContain(`to the administration of ${admin}`)
      expect(login.text).toContain(`&#34;rpId&#34;:&#34;${host}&#34;`)
      const signedIn = await browser.submit(login, { username: `ann@${host}`, password: PASSWORD })
      const back = new URL(signedIn.headers['location'] ?? '')
      expect(back.origin + back.pathname).toBe(`${originOf(admin)}/admin/callback`)
      const answer = await party.exchange(back.searchParams.get('code') ?? '')
      const { access_token: token } = answer.json
      expect(await call(admin, 'GET', '/admin/api/users', { token })).toMatchObject({ status: 200 })
      expect(await call(admin, 'GET', '/admin/data/usage', { token })).toMatchObject({
        status: 200,
      })
      for (const path of ['/admin/api/users', '/admin/data/usage']) {
        const refused = await call(host, 'GET', path, { token })
        expect(refused).toMatchObject({
          status: 421,
          json: { error: { code: 'MisdirectedRequest', baseUrl: originOf(admin) } },
        })
      }
      expect((await call(`admin.${other}`, 'GET', '/admin/api/users', { token })).status).toBe(401)
      const earlier = await call(admin, 'GET', '/admin/api/users', { token: old.get(host) ?? '' })
      expect(earlier.status).toBe(401)
      const elsewhere = await call(host, 'POST', `${party.path}/oauth2/token`, {
        body: 'grant_type=refresh_token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect(elsewhere.status).toBe(421)
      for (const path of ['/.well-known/openid-configuration', '/oauth2/userInfo']) {
        expect([path, (await call(host, 'GET', party.path + path)).status]).toEqual([path, 421])
      }
      const cognito = await call(host, 'POST', `${party.path}/`, {
        body: '{}',
        headers: {
          'x-amz-target': 'AWSCognitoIdentityProviderService.InitiateAuth',
          'content-type': 'application/x-amz-json-1.1',
        },
      })
      expect(cognito.status).toBe(421)
    })

    test('shows the color of the site as soon as it is chosen', async () => {
      const login = (await RelyingParty.of(stack, host, 'admin')).page('login')
      const isGreen = async () => (await page(admin, login)).text.includes('--button:#0a7d55')
      const choose = (color: string | null) =>
        stack.portal('PUT', `/sites/${host}/page-branding`, { color })
      expect(await isGreen()).toBe(false)
      expect(await choose('#0a7d55')).toMatchObject({ status: 200 })
      expect(await isGreen()).toBe(true)
      expect(await choose(null)).toMatchObject({ status: 200 })
      expect(await isGreen()).toBe(false)
    })

    test('leads people to it, and visitors to the site', async () => {
      const admins = await RelyingParty.of(stack, host, 'admin')
      const visitors = await RelyingParty.of(stack, host)
      const moved = [
        [host, admins.page('login'), admin],
        [host, `${admins.path}/account`, admin],
        [host, '/admin/public/onboarding/user?token=a-b_c', admin],
        [host, '/admin', admin],
        [admin, visitors.page('login'), host],
      ] as const
      for (const [asked, path, to] of moved) {
        const answer = await page(asked, path)
        expect([path, answer.status, answer.headers['location']]).toEqual([
          path,
          303,
          `${originOf(to)}${path}`,
        ])
      }
      const login = await page(admin, admins.page('login'))
      expect(login.status).toBe(200)
      expect((await page(host, visitors.page('login'))).status).toBe(200)
    })

    test('has nothing of the site beside it', async () => {
      const token = await stack.dataToken(host)
      const run = { token, body: { payload: {} } }
      const asked = [
        ['POST', '/data/nothing', run, 404],
        ['POST', '/data/public/nothing', { body: {} }, 404],
        ['GET', '/data/auth/config', {}, 421],
        ['GET', '/data/public/auth/config', {}, 421],
        ['POST', '/', { headers: PAGE }, 404],
      ] as const
      for (const [method, path, options, status] of asked) {
        expect([path, (await call(admin, method, path, options)).status]).toEqual([path, status])
      }
      for (const path of ['/', '/index.html', '/a/page']) {
        const answer = await page(admin, path)
        expect([path, answer.status]).toEqual([path, 200])
        expect(answer.text).toContain('<div id="app"></div>')
      }
      const entrance = await page(admin, '/admin')
      expect([entrance.status, entrance.headers['location']]).toEqual([303, '/'])
      expect((await call(host, 'GET', '/data/auth/config')).status).toBe(200)
    })

    test('is open to pages of its own origin, and to none of the site', async () => {
      const preflight = (name: string, origin: string, path = '/admin/api/users') =>
        call(name, 'OPTIONS', path, {
          headers: { origin, 'access-control-request-method': 'GET' },
        }).then(({ headers }) => headers['access-control-allow-origin'])
      expect(await preflight(admin, originOf(admin))).toBe(originOf(admin))
      expect(await preflight(admin, originOf(host))).toBeUndefined()
      expect(await preflight(host, originOf(host))).toBeUndefined()
      expect(await preflight(admin, originOf(`admin.${other}`))).toBeUndefined()
      expect(await preflight(host, originOf(host), '/admin/public/contact')).toBe(originOf(host))
    })

    test('is where invitations lead', async () => {
      const email = `new-${baseUrl === undefined ? 'plain' : 'tls'}@${host}`
      const token = await stack.adminToken(host)
      const body = { email, role: 'user' }
      expect((await call(admin, 'POST', '/admin/api/users', { token, body })).status).toBe(200)
      const url = new URL(linkIn(await mailTo(stack, email, 'invite')))
      expect(url.origin).toBe(originOf(admin))
      const browser = new FormBrowser(stack, admin)
      const form = await browser.get(url.pathname + url.search)
      const done = await browser.submit(form, { password: GOOD, confirmPassword: GOOD })
      expect(textOf(done.text)).toContain('Your account is ready')
    })

    test.each([
      ['a name of another site', () => other, 409, 'SiteAlreadyExists'],
      ['the administration of another site', () => `admin.${other}`, 409, 'SiteAlreadyExists'],
      ['the domain itself', () => host, 400, 'ValidationError'],
      ['no name', () => 'admin', 400, 'ValidationError'],
      ['an address', () => '127.0.0.1', 400, 'ValidationError'],
      ['a name with a path', () => `${host}/admin`, 400, 'ValidationError'],
    ])('is not under %s', async (_what, name, status, code) => {
      const answer = await move(host, name())
      expect(answer).toMatchObject({ status, json: { error: { code } } })
      expect((await call(admin, 'GET', '/admin/public/config')).status).toBe(200)
    })
  })

  test('is no name for another site', async () => {
    const answer = await stack.portal('POST', '/sites', { domain: 'admin.one.test' })
    expect(answer).toMatchObject({ status: 409, json: { error: { code: 'SiteAlreadyExists' } } })
    const taken = { domain: 'three.test', adminDomain: 'one.test' }
    expect((await stack.portal('POST', '/sites', taken)).status).toBe(409)
    expect((await stack.portal('GET', '/sites/three.test')).status).toBe(404)
  })

  test('comes with a new site, moves at every replica, and ends with its site', async () => {
    const second = await startStack({ beside: stack })
    const [domain, adminDomain] = ['four.test', 'office.example']
    const at = async (name: string) =>
      (await second.call(name, 'GET', '/admin/public/config')).status
    expect((await stack.portal('POST', '/sites', { domain, adminDomain })).status).toBe(200)
    await vi.waitUntil(async () => (await at(adminDomain)) === 200, PATIENCE)
    const party = await RelyingParty.of(second, domain, 'admin')
    const login = await second.call(adminDomain, 'GET', party.page('login'))
    expect(login.text).toContain(`&#34;rpId&#34;:&#34;${adminDomain}&#34;`)
    expect((await move(domain, null)).json).toMatchObject({ adminDomain: null })
    await vi.waitUntil(async () => (await at(adminDomain)) === 404, PATIENCE)
    expect((await second.call(domain, 'GET', '/admin/public/config')).json.auth.issuer).toContain(
      `//${domain}`,
    )
    expect((await move('two.test', adminDomain)).status).toBe(200)
    expect((await move(domain, 'admin.two.test')).status).toBe(200)
    const confirm = { confirm: true }
    expect((await stack.portal('DELETE', `/sites/${domain}`, confirm)).status).toBe(204)
    await vi.waitUntil(async () => (await at('admin.two.test')) === 404, PATIENCE)
    expect((await move('two.test', 'admin.two.test')).status).toBe(200)
    await vi.waitUntil(async () => (await at('admin.two.test')) === 200, PATIENCE)
    await second[Symbol.asyncDispose]()
  })
})
