import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import {
  type Tab,
  chromiumMissing,
  follow,
  launchChromium,
  openTab,
  sendForm,
} from '#test/browser.ts'
import { type ClientApp, startClientApp } from '#test/client-app.ts'
import { allMailTo, codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'
const NEW_PASSWORD = 'Another-horse-8'
const SITES = ['one.test', 'two.test'] as const
/** Its visitors sign in on a name of its own from the start. */
const OWN = 'own.test'
/** There they sign in on another name once the application is in use. */
const MOVING = 'moving.test'
/** One address at both pools of a site: they are two accounts. */
const POOLS = [
  ...SITES.flatMap((host) =>
    (['data', 'admin'] as const).map((kind) => ({ host, kind, email: `ann@${host}` })),
  ),
  { host: OWN, kind: 'data' as const, email: `ann@${OWN}` },
]
/** A pool of each kind, each at another site: what the library does at one pool, it does at all of its kind. */
const EITHER_KIND = POOLS.filter(
  ({ host, kind }) => host === OWN || (host === 'one.test') === (kind === 'data'),
)
const signInHost = (host: string): string => (host === OWN ? `auth.${OWN}` : host)
const WHO = 'export default ({ auth, site }) => ({ username: auth.username, at: site.siteDomain })'

/** What the library holds of a user who is signed in, or why it holds nothing. */
interface Held {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly token_type: string
  readonly scope: string
  readonly state: unknown
  readonly profile: Readonly<Record<string, unknown>>
  readonly failed?: { readonly name: string; readonly message: string; readonly error?: string }
}

interface Called {
  readonly status?: number
  readonly body?: unknown
  readonly failed?: unknown
}

interface Place {
  readonly host: string
  readonly kind: PoolKind
  readonly email: string
}

const missing = chromiumMissing()

describe.skipIf(missing)(`oidc-client-ts in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  /** Its origin is the installation’s own too, where the administration of every site is. */
  let app: ClientApp
  /** The same application at a place that is not registered. */
  let stranger: ClientApp
  beforeAll(async () => {
    app = await startClientApp()
    stranger = await startClientApp()
    stack = await startStack({ sites: [...SITES, MOVING], config: { baseUrl: app.origin } })
    const own = { domain: OWN, authDomain: `auth.${OWN}`, superAdmins: [`ann@${OWN}`] }
    await stack.portal('POST', '/sites', own)
    for (const host of [...SITES, OWN, MOVING]) {
      await register(host)
      const site = await RuntimeSite.open(stack, host)
      const lambdaResourceId = await site.putFunction('who', WHO)
      await site.putOperation('who', { lambdaResourceId, auth: { mode: 'authenticated' } })
      await site.synced()
    }
    chromium = await launchChromium(stack.port)
  })
  afterAll(async () => {
    await chromium.close()
    await stranger[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
    await stack[Symbol.asyncDispose]()
  })

  /** What the operator does for an application that is made by others. */
  async function register(host: string): Promise<void> {
    const clientAt = (kind: PoolKind) => {
      const home = app.homeOf(host, kind)
      const redirectUris = [`${home}callback`, `${home}held`]
      return { clients: { default: { redirectUris, logoutUris: [home] } } }
    }
    const clients = { data: clientAt('data'), admin: clientAt('admin') }
    const origins = { deploymentSettings: { cors: { origins: [app.origin] } } }
    expect((await stack.portal('PATCH', `/sites/${host}/auth`, clients)).status).toBe(200)
    expect((await stack.portal('PATCH', `/sites/${host}`, origins)).status).toBe(200)
  }

  const ask = <Told = Held>(page: Page, question: string): Promise<Told> =>
    page.evaluate(`app.then((app) => app.${question})`)
  const leave = async (page: Page, question: string) => {
    const loaded = page.waitForEvent('load')
    await page.evaluate(`void app.then((app) => app.${question})`)
    await loaded
  }
  const open = (page: Page, { host, kind }: Place) => page.goto(app.homeOf(host, kind))
  const call = (page: Page, { kind }: Place, token: string) => {
    const body = kind === 'data' ? `, { payload: {} }` : ''
    const path = kind === 'data' ? '/data/who' : '/admin/api/profile'
    return ask<Called>(page, `call('${path}', '${token}'${body})`)
  }
  const answerTo = ({ host, kind, email }: Place): Called => {
    const data = { username: email, at: host }
    const profile = expect.objectContaining({ primaryEmail: email })
    return { status: 200, body: kind === 'data' ? { ok: true, data } : profile }
  }

  const passwords = new Map<Place, string>()
  /** Through the pages, from the application and back to it. */
  async function signIn(page: Page, place: Place): Promise<Held> {
    await open(page, place)
    await leave(page, `signIn()`)
    const password = passwords.get(place) ?? PASSWORD
    await sendForm(page, { username: place.email, password })
    return ask(page, 'arrival')
  }

  /** As the keys say that the pool has published. */
  async function idTokenOf({ id_token: idToken }: Held) {
    const { hostname, pathname } = new URL(decodeJwt(idToken).iss ?? '')
    const keys = await stack.call(hostname, 'GET', `${pathname}/.well-known/jwks.json`)
    return (await jwtVerify(idToken, createLocalJWKSet(keys.json))).payload
  }

  /** In whichever way the pool takes new people. */
  async function join(page: Page, { kind, email }: Place): Promise<void> {
    if (kind === 'admin') {
      await page.goto(linkIn(await mailTo(stack, email, 'invite')))
      return sendForm(page, { password: PASSWORD, confirmPassword: PASSWORD })
    }
    await follow(page, 'Create one')
    await sendForm(page, { username: email, password: PASSWORD })
    await sendForm(page, { code: codeIn(await mailTo(stack, email, 'verification')) })
  }

  test.each(POOLS)(
    'signs a visitor in at $host, $kind, who calls the site from another origin',
    async (place) => {
      const { host, kind, email } = place
      await using tab = await openTab(chromium)
      const { page } = tab
      if (kind === 'admin') await join(page, place)
      await open(page, place)
      await leave(page, `signIn({ state: { cart: ['kept'] }, url_state: 'shown' })`)
      if (kind === 'data') await join(page, place)
      else await sendForm(page, { username: email, password: PASSWORD })

      const held = await ask(page, 'arrival')
      const claims = await idTokenOf(held)
      expect(claims).toMatchObject({
        aud: await ask(page, 'clientId'),
        token_use: 'id',
        nonce: expect.any(String),
        iss: expect.stringContaining(
          `http://${signInHost(host)}:${new URL(app.origin).port}/oidc/`,
        ),
      })
      expect(held).toMatchObject({
        profile: { sub: claims.sub, email, email_verified: true },
        state: { cart: ['kept'] },
        url_state: 'shown',
        scope: 'openid email profile',
        token_type: 'Bearer',
      })
      expect(await call(page, place, held.access_token)).toEqual(answerTo(place))
      expect(tab.complaints).toEqual([])
    },
  )

  describe.each(EITHER_KIND)('at $host, $kind', (place) => {
    const { host, kind, email } = place

    test('renews without a page, asked and by itself, until its access token is revoked', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      const held = await signIn(page, place)
      let last = held
      for (const how of ['renew()', 'renew()', 'renewByItself()']) {
        const renewed = await ask(page, how)
        expect(renewed.refresh_token).not.toBe(last.refresh_token)
        expect(renewed.access_token).not.toBe(last.access_token)
        expect(renewed.profile).toMatchObject({ sub: held.profile['sub'], email })
        expect(await call(page, place, renewed.access_token)).toEqual(answerTo(place))
        last = renewed
      }
      const { auth_time: then } = await idTokenOf(held)
      expect((await idTokenOf(last))['auth_time']).toBe(then)
      expect(await ask(page, 'user()')).toMatchObject({ refresh_token: last.refresh_token })
      expect(tab.complaints).toEqual([])

      await ask(page, `revoke(['access_token'])`)
      expect((await call(page, place, last.access_token)).status).toBe(401)
      const after = await ask(page, 'renew()')
      expect(after.failed?.error).toBe('invalid_grant')
      expect(after.refresh_token).toBeFalsy()
    })

    test('revokes its refresh token', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      const { access_token: token } = await signIn(page, place)
      await ask(page, `revoke(['refresh_token'])`)
      expect((await call(page, place, token)).status).toBe(401)
      const after = await ask(page, 'user()')
      expect(after.failed).toBeUndefined()
      expect(after.refresh_token).toBeFalsy()
    })

    test('signs out, and is back at the application', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      const { access_token: token } = await signIn(page, place)
      await leave(page, 'signIn()')
      expect((await ask(page, 'arrival')).failed).toBeUndefined()
      await leave(page, `signOut({ state: 'left' })`)
      expect(page.url().startsWith(`${app.homeOf(host, kind)}?state=`)).toBe(true)
      expect(await ask(page, 'user()')).toBeNull()
      expect((await call(page, place, token)).status).toBe(401)
      await leave(page, 'signIn()')
      expect(await page.title()).toBe(`Sign in · ${host}`)
      expect(tab.complaints).toEqual([])
    })

    test('recovers a forgotten password, which ends what was signed in', async () => {
      await using tab = await openTab(chromium)
      await using elsewhere = await openTab(chromium)
      const { page } = tab
      const held = await signIn(elsewhere.page, place)
      await open(page, place)
      await leave(page, 'signIn()')
      await follow(page, 'Forgot password?')
      const [former] = await allMailTo(stack, email, 'reset')
      await sendForm(page, { username: email })
      const code = codeIn(await mailTo(stack, email, 'reset', former))
      await sendForm(page, { code, password: NEW_PASSWORD })
      passwords.set(place, NEW_PASSWORD)
      await sendForm(page, { password: NEW_PASSWORD })
      const { access_token: token } = await ask(page, 'arrival')
      expect(await call(page, place, token)).toEqual(answerTo(place))

      expect((await call(elsewhere.page, place, held.access_token)).status).toBe(401)
      expect((await ask(elsewhere.page, 'renew()')).failed?.error).toBe('invalid_grant')
      await leave(elsewhere.page, 'signIn()')
      await sendForm(elsewhere.page, { username: email, password: PASSWORD })
      expect(await elsewhere.page.title()).toBe(`Error: Sign in · ${host}`)
      expect(tab.complaints).toEqual([])
    })
  })

  describe('at all pools in one browser', () => {
    let tab: Tab
    const all = new Map<Place, Held>()
    beforeAll(async () => {
      tab = await openTab(chromium)
      for (const place of POOLS) all.set(place, await signIn(tab.page, place))
    })
    afterAll(() => tab[Symbol.asyncDispose]())

    test('is a user of each, with tokens that count there only', async () => {
      const { page } = tab
      expect(new Set([...all.values()].map(({ profile }) => profile['sub'])).size).toBe(
        POOLS.length,
      )
      for (const place of POOLS) {
        await open(page, place)
        expect((await ask(page, 'user()')).profile).toEqual(all.get(place)?.profile)
        for (const [other, { access_token: token }] of all) {
          const answer = await call(page, place, token)
          expect(answer.status, `${other.host} ${other.kind}`).toBe(other === place ? 200 : 401)
        }
      }
      expect(tab.complaints).toEqual([])
    })

    test('leaves one without leaving the others', async () => {
      const { page } = tab
      const [left, ...others] = POOLS
      if (left) await open(page, left)
      await leave(page, 'signOut()')
      for (const place of others) {
        await open(page, place)
        expect((await ask(page, 'renew()')).failed).toBeUndefined()
        await leave(page, `signIn({ prompt: 'none' })`)
        expect((await ask(page, 'arrival')).profile).toMatchObject({ email: place.email })
      }
    })
  })

  describe.each(POOLS)('in a browser that is signed in at $host, $kind,', (place) => {
    let tab: Tab
    beforeAll(async () => {
      tab = await openTab(chromium)
      await signIn(tab.page, place)
    })
    afterAll(() => tab[Symbol.asyncDispose]())

    test('the person is known there, and nowhere else', async () => {
      const { page } = tab
      for (const other of POOLS) {
        await open(page, other)
        await leave(page, `signIn({ prompt: 'none' })`)
        const { failed } = await ask(page, 'arrival')
        expect(failed?.error).toBe(other === place ? undefined : 'login_required')
      }
    })

    test('no answer is taken that was meant for another pool', async () => {
      const { page } = tab
      await open(page, place)
      await ask(page, 'forget()')
      const others = POOLS.filter((each) => each !== place)
      const answers = new Map<Place, string>()
      for (const other of others) {
        await leave(page, `signIn({ redirect_uri: '${app.homeOf(place.host, place.kind)}held' })`)
        const { search } = new URL(page.url())
        expect(search).toContain('code=')
        answers.set(other, search)
      }
      for (const [other, search] of answers) {
        await page.goto(`${app.homeOf(other.host, other.kind)}callback${search}`)
        const { failed } = await ask(page, 'arrival')
        expect(failed?.message).toBe('authority mismatch on settings vs. signin state')
        expect(await ask(page, 'user()')).toBeNull()
      }
    })
  })

  test('lets an origin that is not named read the keys of a pool, and nothing of the site', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.goto(stranger.origin)
    for (const { host, kind } of POOLS) {
      const token = await (kind === 'data' ? stack.dataToken(host) : stack.adminToken(host))
      const url = `http://${host}:${new URL(app.origin).port}`
      const keys = `${decodeJwt(token).iss ?? ''}/.well-known/jwks.json`
      const paths = ['/data/who', '/data/auth/config', '/admin/api/profile', '/admin/public/config']
      for (const path of [...paths, keys]) {
        const headers = path === keys ? {} : { authorization: `Bearer ${token}` }
        const method = path === '/data/who' ? 'POST' : 'GET'
        const asking = `fetch('${path === keys ? keys : url + path}', ${JSON.stringify({ method, headers })})`
        const outcome = await page.evaluate(`${asking}.then(({ ok }) => ok, ({ name }) => name)`)
        expect(outcome, path).toBe(path === keys ? true : 'TypeError')
      }
    }
  })

  async function signInByWindow(page: Page, email: string, password: string): Promise<Held> {
    const opened = page.waitForEvent('popup')
    const signedIn = ask(page, 'signInByWindow()')
    const popup = await opened
    await popup.fill('#username', email)
    await popup.fill('#password', password)
    await popup.click('main form button.button')
    const held = await signedIn
    expect(popup.isClosed()).toBe(true)
    return held
  }

  test.each(['one.test', OWN])(
    'signs in at %s by a window, which finds back to the page that opened it',
    async (host) => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await page.goto(app.homeOf(host, 'data'))
      const held = await signInByWindow(page, `ann@${host}`, NEW_PASSWORD)
      expect(held.profile['email']).toBe(`ann@${host}`)
      expect(tab.complaints).toEqual([])
    },
  )

  test('goes on asking the issuer that it knows when the sign-in moves', async () => {
    const place: Place = { host: MOVING, kind: 'data', email: `ann@${MOVING}` }
    const { issuer } = (await RelyingParty.of(stack, MOVING)).pool
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.addInitScript(`globalThis.authority = ${JSON.stringify(issuer)}`)
    const signedIn = async (held: Held) => {
      expect(held.failed).toBeUndefined()
      expect(held.profile).toMatchObject({ iss: issuer, email: place.email })
      expect((await idTokenOf(held)).iss).toBe(issuer)
      expect(await call(page, place, held.access_token)).toEqual(answerTo(place))
      return held
    }
    await open(page, place)
    await leave(page, 'signIn()')
    await join(page, place)
    const before = await signedIn(await ask(page, 'arrival'))
    const moved = await stack.portal('PATCH', `/sites/${MOVING}`, { authDomain: `auth.${MOVING}` })
    expect(moved.json).toMatchObject({ formerAuthDomains: [MOVING] })

    expect(await call(page, place, before.access_token)).toEqual(answerTo(place))
    const renewed = await signedIn(await ask(page, 'renew()'))
    expect(renewed.refresh_token).not.toBe(before.refresh_token)
    // Its user signs in again, on the new name.
    await leave(page, `signIn({ prompt: 'none' })`)
    expect((await ask(page, 'arrival')).failed?.error).toBe('login_required')
    await leave(page, 'signIn()')
    expect(new URL(page.url()).hostname).toBe(`auth.${MOVING}`)
    await sendForm(page, { username: place.email, password: PASSWORD })
    await signedIn(await ask(page, 'arrival'))
    await leave(page, `signIn({ prompt: 'none' })`)
    const again = await signedIn(await ask(page, 'arrival'))

    await leave(page, 'signOut()')
    expect(page.url()).toBe(app.homeOf(MOVING, 'data'))
    expect((await call(page, place, again.access_token)).status).toBe(401)
    await leave(page, `signIn({ prompt: 'none' })`)
    expect((await ask(page, 'arrival')).failed?.error).toBe('login_required')
    await open(page, place)
    await signedIn(await signInByWindow(page, place.email, PASSWORD))
    expect(tab.complaints).toEqual([])
  })

  test.each(['one.test', OWN])('finds no session at %s without showing a page', async (host) => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.goto(app.homeOf(host, 'data'))
    expect((await ask(page, 'renew()')).failed?.error).toBe('login_required')
    await leave(page, `signIn({ prompt: 'none' })`)
    expect((await ask(page, 'arrival')).failed).toMatchObject({ error: 'login_required' })
  })
})
