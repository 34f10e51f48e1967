import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { Owner, PASSWORD } from '#test/account-owner.ts'
import { chromiumMissing, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { RUNNING_PAGE, clientAppScript } from '#test/client-app.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { StaticDesk } from '#test/static-sites.ts'
import { asSuperuser } from '#test/superuser.ts'
import { type TlsFront, startTlsFront } from '#test/tls-front.ts'

const HOST = 'shop.test'
const MOVED = 'old.test'
const STRANGER = 'club.test'
/** A site of others, whose pages are same-site with the sign-in. */
const NEIGHBOUR = `evil.${HOST}`
const SITES = [HOST, MOVED, STRANGER, NEIGHBOUR]
const APP = { 'index.html': RUNNING_PAGE, 'callback.html': RUNNING_PAGE }

/** What the library holds, or why it holds nothing. */
interface Held {
  readonly profile: Readonly<Record<string, unknown>>
  readonly refresh_token?: string
  readonly failed?: { readonly message: string; readonly error?: string }
}

const missing = chromiumMissing()

describe.skipIf(missing)(
  `oidc-client-ts that renews in a frame of the other name${missing ? ` (${missing})` : ''}`,
  () => {
    let stack: Stack
    let chromium: Browser
    let front: TlsFront
    beforeAll(async () => {
      stack = await startStack({ sites: SITES, config: { baseUrl: 'https://localhost' } })
      await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
      const names = { authDomain: `auth.${HOST}`, adminDomain: `admin.${HOST}` }
      await stack.portal('PATCH', `/sites/${HOST}`, { ...names, formerAuthDomains: [] })
      const script = await clientAppScript()
      const desk = new StaticDesk(stack, new DeployDesk(stack))
      for (const site of SITES) {
        await register(site)
        const files = (['data', 'admin'] as const).flatMap((kind) =>
          Object.entries(APP).map(([name, page]) => [`${site}/${kind}/${name}`, page]),
        )
        await desk.deploy(site, { 'app.js': script, ...Object.fromEntries(files) })
      }
      front = await startTlsFront(stack.port)
      chromium = await launchChromium(front.port, front.keyHash)
    })
    afterAll(async () => {
      await chromium.close()
      await front[Symbol.asyncDispose]()
      await stack[Symbol.asyncDispose]()
    })

    const homeOf = (site: string, kind: PoolKind) => `https://${site}/${site}/${kind}/`

    /** The application is a page of the site. */
    async function register(site: string): Promise<void> {
      const clientAt = (kind: PoolKind) => {
        const home = homeOf(site, kind)
        return { clients: { default: { redirectUris: [`${home}callback`], logoutUris: [home] } } }
      }
      const body = { data: clientAt('data'), admin: clientAt('admin') }
      const { status, text } = await stack.portal('PATCH', `/sites/${site}/auth`, body)
      if (status !== 200) throw new Error(text)
    }

    const ask = <Told = Held>(page: Page, question: string): Promise<Told> =>
      page.evaluate(`app.then((app) => app.${question})`)
    const leave = async (page: Page, question: string) => {
      const loaded = page.waitForEvent('load')
      await page.evaluate(`void app.then((app) => app.${question})`)
      await loaded
    }

    /** Each authorization request of a frame, with its host and what it was answered. */
    function framed(page: Page): string[] {
      const seen: string[] = []
      page.on('response', (response) => {
        const { hostname, pathname, searchParams } = new URL(response.url())
        if (!pathname.endsWith('/oauth2/authorize') || !searchParams.has('prompt')) return
        seen.push(`${hostname} ${response.status()}`)
      })
      return seen
    }

    async function owner(site: string, kind: PoolKind = 'data'): Promise<string> {
      return (await Owner.of(stack, site, kind)).email
    }
    async function signIn(page: Page, [site, kind]: readonly [string, PoolKind], email: string) {
      await page.goto(homeOf(site, kind))
      await leave(page, 'signIn()')
      await sendForm(page, { username: email, password: PASSWORD })
      return ask(page, 'arrival')
    }

    test('gets new tokens without a page while its user is signed in', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      const email = await owner(HOST)
      const held = await signIn(page, [HOST, 'data'], email)
      expect(held.profile).toMatchObject({ email })
      const seen = framed(page)
      for (let again = 0; again < 2; again += 1) {
        // Without a refresh token the library opens a frame.
        await ask(page, 'forget()')
        const renewed = await ask(page, 'renew()')
        expect(renewed.failed).toBeUndefined()
        expect(renewed.profile).toMatchObject({ email, sub: held.profile['sub'] })
        expect(new URL(String(renewed.profile['iss'])).hostname).toBe(`auth.${HOST}`)
        expect(renewed.refresh_token).not.toBe(held.refresh_token)
      }
      expect(seen).toEqual([`auth.${HOST} 303`, `auth.${HOST} 303`])
      expect(page.url()).toBe(`${homeOf(HOST, 'data')}callback${new URL(page.url()).search}`)
      expect(tab.complaints).toEqual([])

      await leave(page, 'signOut()')
      expect((await ask(page, 'renew()')).failed?.error).toBe('login_required')
    })

    test('learns that its user is not signed in', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await page.goto(homeOf(HOST, 'data'))
      const seen = framed(page)
      expect((await ask(page, 'renew()')).failed?.error).toBe('login_required')
      expect(seen).toEqual([`auth.${HOST} 303`])
      expect(tab.complaints).toEqual([])
    })

    test('goes on where it has the issuer from before the sign-in moved', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      const party = await RelyingParty.of(stack, MOVED)
      const { issuer } = party.pool
      const email = await owner(MOVED)
      await page.addInitScript(`globalThis.authority = ${JSON.stringify(issuer)}`)
      const before = await signIn(page, [MOVED, 'data'], email)
      expect(before.profile['iss']).toBe(issuer)
      const changed = await stack.portal('PATCH', `/sites/${MOVED}`, {
        authDomain: `auth.${MOVED}`,
      })
      expect(changed.status).toBe(200)

      const refreshed = await ask(page, 'renew()')
      expect(refreshed.profile).toMatchObject({ sub: before.profile['sub'], iss: issuer })
      const seen = framed(page)
      await ask(page, 'forget()')
      expect((await ask(page, 'renew()')).failed?.error).toBe('login_required')
      const after = await signIn(page, [MOVED, 'data'], email)
      expect(after.profile).toMatchObject({ sub: before.profile['sub'], iss: issuer })
      await ask(page, 'forget()')
      expect((await ask(page, 'renew()')).profile).toMatchObject({ email, iss: issuer })
      const hops = [`${MOVED} 303`, `auth.${MOVED} 303`]
      expect(seen).toEqual([...hops, ...hops])
      expect(tab.complaints).toEqual([])
    })

    test('gets nothing for an admin', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      const email = await owner(HOST, 'admin')
      const held = await signIn(page, [HOST, 'admin'], email)
      expect(held.profile).toMatchObject({ email })
      await ask(page, 'forget()')
      const seen = framed(page)
      const { failed } = await ask(page, 'renew({ silentRequestTimeoutInSeconds: 2 })')
      expect(failed?.message).toBe('IFrame timed out without a response')
      expect(seen).toEqual([`admin.${HOST} 403`])
    })

    describe.each([
      ['another site', STRANGER],
      ['another site below the domain', NEIGHBOUR],
    ])('in a page of %s', (_what, site) => {
      test.each(['', 'no-referrer', 'unsafe-url'])(
        'is refused, referrer policy "%s"',
        async (policy) => {
          await using tab = await openTab(chromium)
          const { page } = tab
          await signIn(page, [HOST, 'data'], await owner(HOST))
          const party = await RelyingParty.of(stack, HOST)
          const seen = framed(page)
          await page.goto(homeOf(site, 'data'))
          const url = `${party.pool.issuer}/oauth2/authorize?${party.params({ prompt: 'none' }).toString()}`
          expect(await addressIn(page, url, policy)).toBe('SecurityError')
          expect(seen).toEqual([`auth.${HOST} 403`])
        },
      )
    })

    test('is refused on its own site for a page that does not say who it is', async () => {
      await using tab = await openTab(chromium)
      const { page } = tab
      await signIn(page, [HOST, 'data'], await owner(HOST))
      const party = await RelyingParty.of(stack, HOST)
      const parameters = { prompt: 'none', redirect_uri: `${homeOf(HOST, 'data')}callback` }
      const url = `${party.pool.issuer}/oauth2/authorize?${party.params(parameters).toString()}`
      expect(await addressIn(page, url, 'no-referrer')).toBe('SecurityError')
      expect(await addressIn(page, url, '')).toContain('code=')
    })
  },
)

/** Where a frame of the page ended, as a script of the page reads it. */
const addressIn = (page: Page, url: string, policy: string): Promise<string> =>
  page.evaluate(`new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.referrerPolicy = ${JSON.stringify(policy)}
    frame.addEventListener('load', () => {
      try {
        resolve(frame.contentWindow.location.href)
      } catch (error) {
        resolve(error.name)
      }
    })
    frame.src = ${JSON.stringify(url)}
    document.body.append(frame)
  })`)
