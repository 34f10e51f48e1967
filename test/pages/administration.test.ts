import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'
import { type Walk, WalkingBrowser } from '#test/walking-browser.ts'

const PASSWORD = 'Correct-horse-7'
const GERMAN = { ...PAGE, 'accept-language': 'de' }
const TICK = 'd="m5 12.5 4.5 4.5L19 7.5"'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const linksOf = ({ text }: Answer): (string | undefined)[] =>
  [...text.matchAll(/<a class="button[^"]*" href="([^"]*)"/g)].map((found) => found[1])

describe.each([
  ['that is on the site’s own domain', 'shared.test', null],
  ['with a name of its own', 'apart.test', 'admin.apart.test'],
] as const)('the administration %s', (_where, domain, adminDomain) => {
  const admin = adminDomain ?? domain
  const get = (path: string, headers: Readonly<Record<string, string>> = PAGE, host = admin) =>
    stack.call(host, 'GET', path, { headers })
  const home = adminDomain === null ? '/' : `http://${domain}`
  let party: RelyingParty
  beforeAll(async () => {
    const names = adminDomain === null ? {} : { adminDomain }
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`], ...names })
    party = await RelyingParty.of(stack, domain, 'admin')
    const invite = new URL(linkIn(await mailTo(stack, `ann@${domain}`, 'invite')))
    const visitor = new FormBrowser(stack, invite.hostname)
    const page = await visitor.get(`${invite.pathname}${invite.search}`)
    const done = await visitor.submit(page, { password: PASSWORD, confirmPassword: PASSWORD })
    if (linksOf(done)[0] !== `${stack.baseUrl(admin)}/admin`) throw new Error(done.text)
  })

  const base = () => stack.baseUrl(admin)
  /** Follows every redirect, the client's own callback as well. */
  const go = (browser: WalkingBrowser, path: string) => browser.open(base() + path, () => false)
  const titleOf = ({ answer }: Walk) => /<title>([^<]*) ·/.exec(answer.text)?.[1]

  test.each(['/admin', '/admin/'])('leads people from %s to the console', async (path) => {
    const { url, answer } = await go(new WalkingBrowser(), path)
    expect(url.href).toBe(
      `${stack.baseUrl(adminDomain ?? `${domain.replace('.', '-')}.console.localhost`)}/`,
    )
    expect(answer.text).toContain('<div id="app"></div>')
  })

  test.each(['/admin/callback', '/admin/callback?code=x&state=y'])(
    'leads people from %s to the sign-in, and the sign-in to their account',
    async (path) => {
      const browser = new WalkingBrowser()
      const login = await go(browser, path)
      expect(login.url.pathname).toBe(`${party.path}/login`)
      const account = await browser.submit(login, { username: `ann@${domain}`, password: PASSWORD })
      expect(account.url.href).toBe(`${base()}${party.path}/account`)
      expect(textOf(account.answer.text)).toContain(`ann@${domain}`)
      const again = await go(browser, path)
      expect([titleOf(again), again.url.search]).toEqual(['Your account', ''])
      expect(again.steps.map(({ url }) => new URL(url).pathname)).toEqual([
        path.replace(/\?.*/, ''),
        `${party.path}/account`,
      ])
    },
  )

  test('answers at the address at which a sign-in for its own client ends', async () => {
    const browser = new WalkingBrowser()
    const login = await go(browser, party.page('oauth2/authorize'))
    const signedIn = await browser.submit(login, { username: `ann@${domain}`, password: PASSWORD })
    expect(signedIn.url.pathname).toBe('/admin/callback')
    const arrived = await go(browser, `${signedIn.url.pathname}${signedIn.url.search}`)
    expect(titleOf(arrived)).toBe('Your account')
    expect(arrived.steps[0]?.location).not.toContain('code')
    // It was not used up: the client that asked still takes it.
    const { status } = await party.exchange(signedIn.url.searchParams.get('code') ?? '')
    expect(status).toBe(200)
  })

  test('says when a sign-in was refused, in words of its own', async () => {
    const answer = await get(
      '/admin/callback?error=access_denied&error_description=Call%20555',
      GERMAN,
    )
    expect(answer.status).toBe(400)
    expect(textOf(answer.text)).toContain('Sie sind nicht angemeldet')
    expect(answer.text).not.toContain('555')
    expect(answer.text).not.toContain(TICK)
    expect(linksOf(answer)[0]).toBe('/admin')
  })

  test('says after a sign-out that it is done, once, and leads back in', async () => {
    const browser = new WalkingBrowser()
    const signIn = async () => {
      const login = await go(browser, `${party.path}/account`)
      await browser.submit(login, { username: `ann@${domain}`, password: PASSWORD })
    }
    const { auth } = (await get('/admin/public/config')).json
    const query = new URLSearchParams({ client_id: auth.clientId, logout_uri: auth.logoutUri })
    await signIn()
    const out = await go(browser, `${party.path}/logout?${query.toString()}`)
    expect(out.url.href).toBe(auth.logoutUri)
    expect(titleOf(out)).toBe('You are signed out')
    expect(out.answer.headers['cache-control']).toBe('no-store')
    expect(out.answer.text).toContain(TICK)
    const [back, site] = linksOf(out.answer)
    expect(site).toMatch(home === '/' ? /^\/$/ : new RegExp(`^${home}:\\d+/$`))
    expect((await go(browser, back ?? '')).url.pathname).toBe(`${party.path}/login`)
    expect((await go(browser, '/admin')).answer.text).toContain('<div id="app"></div>')

    await signIn()
    const confirm = await go(browser, `${party.path}/logout`)
    const done = await browser.submit(confirm, {})
    expect(titleOf(done)).toBe('You are signed out')
    expect(linksOf(done.answer)[0]).toMatch(`${party.path}/account`)
  })

  test('keeps what it says after a sign-out in a cookie that no script reads and that opens nothing', async () => {
    const { auth } = (await get('/admin/public/config')).json
    const query = new URLSearchParams({ client_id: auth.clientId, logout_uri: auth.logoutUri })
    const out = await get(`${party.path}/logout?${query.toString()}`)
    const cookie = out.headers['set-cookie'] ?? ''
    expect(cookie).toMatch(/croft_signed_out=1; Path=\/admin; HttpOnly; SameSite=Lax; Expires=/)
    const page = await get('/admin', { ...GERMAN, cookie: 'croft_signed_out=1' })
    expect(textOf(page.text)).toContain('Sie sind abgemeldet')
    expect(page.headers['set-cookie']).toMatch(/croft_signed_out=; .*Expires=Thu, 01 Jan 1970/)
  })

  test.each(['onboarding/user', 'address/confirm', 'address/undo', 'forwarding/verify'])(
    'takes the form of %s from its own pages, and from no others',
    async (page) => {
      const sent = (origin: string) =>
        stack.call(admin, 'POST', `/admin/public/${page}`, {
          headers: { ...PAGE, origin, 'content-type': 'application/x-www-form-urlencoded' },
          body: 'token=',
        })
      const own = await sent(base())
      expect([own.status, textOf(own.text)]).toEqual([400, expect.stringContaining('MissingToken')])
      const others = [
        `http://other.test:${stack.port}`,
        ...(adminDomain ? [stack.baseUrl(domain)] : []),
      ]
      for (const origin of others)
        expect([origin, (await sent(origin)).status]).toEqual([origin, 403])
    },
  )

  test('has for programs what it had: nothing at these addresses', async () => {
    for (const path of ['/admin', '/admin/callback']) {
      const answer = await get(path, { accept: 'application/json' })
      expect([path, answer.status, answer.json.error.code]).toEqual([path, 404, 'RouteNotFound'])
    }
    const axios = await get('/admin', { accept: 'application/json, text/plain, */*' })
    expect(axios.status).toBe(404)
  })

  test.each([
    ['takes any type', { accept: '*/*' }],
    ['does not say what it takes', {}],
  ])('redirects a client that %s, as it redirects a browser', async (_who, headers) => {
    for (const path of ['/admin', '/admin/callback']) {
      const answer = await get(path, headers)
      expect([answer.status, answer.headers['location']]).toEqual([303, `${party.path}/account`])
    }
  })
})

describe('the green tick', () => {
  test('is on no page that says that nothing was done', async () => {
    await stack.createSite({ domain: 'plain.test', superAdmins: ['ann@plain.test'] })
    const root = await stack.call('plain.test', 'GET', '/', { headers: PAGE })
    expect(textOf(root.text)).toContain('plain.test is running')
    expect(root.text).not.toContain(TICK)
    expect(root.headers['vary']).toBe('accept, accept-language')
  })
})
