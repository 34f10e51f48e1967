import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import { PASSWORD } from '#test/account-owner.ts'
import { BROWSER_PLACES, type BrowserSites, startBrowserSites } from '#test/browser-sites.ts'
import { type Tab, chromiumMissing, follow, openTab, sendForm } from '#test/browser.ts'
import { mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import type { Stack } from '#test/stack.ts'
import { deviceOf } from '#test/virtual-authenticator.ts'

const POOLS = ['data', 'admin'] as const

const missing = chromiumMissing()

describe.skipIf(missing).each(BROWSER_PLACES)('passkeys in Chromium, $scheme', (place) => {
  const { scheme, shared, apart } = place
  let sites: BrowserSites
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    sites = await startBrowserSites(place)
    ;({ stack, chromium } = sites)
  })
  afterAll(() => sites[Symbol.asyncDispose]())

  let people = 0
  async function person(host: string, kind: PoolKind = 'data') {
    const party = await RelyingParty.of(stack, host, kind)
    const email = kind === 'data' ? `p${++people}@visitors.test` : `ann@${host}`
    const sub = await party.user(email)
    const { site, pool } = party
    const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
    if (!(await stack.context.ownPasswords.has(site, pool, sub))) {
      await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
    }
    return { party, email, sub, account: `${pool.issuer}/account` }
  }
  type Person = Awaited<ReturnType<typeof person>>

  /** Signs in with the password, and adds a passkey. */
  async function added(page: Page, { account, email }: Person): Promise<void> {
    await page.goto(account)
    await sendForm(page, { username: email, password: PASSWORD })
    await page.goto(`${account}/passkey`)
    await sendForm(page, { currentPassword: PASSWORD }, 'form[data-passkey] button.button')
  }

  /** Leaves the account, and comes back to the page of the password. */
  async function signedOut(page: Page, { account }: Person): Promise<void> {
    await page.context().clearCookies({ name: /croft_session/ })
    await page.goto(account)
  }

  async function requireSecondFactor(host: string, kind: PoolKind, on: boolean): Promise<void> {
    const body = { [kind]: { requireSecondFactor: on } }
    expect((await stack.portal('PATCH', `/sites/${host}/auth`, body)).status).toBe(200)
  }

  async function withTab(run: (tab: Tab) => Promise<void>): Promise<void> {
    await using tab = await openTab(chromium)
    await run(tab)
    expect(tab.complaints).toEqual([])
  }

  describe.each([
    ['on the origin of the site', shared],
    ['on an origin of their own', apart],
  ])('%s', (_where, host) => {
    test.each(POOLS)(
      'are added, sign in without a password and a second step, and are removed, at the %s pool',
      async (kind) => {
        await withTab(async ({ page }) => {
          const who = await person(host, kind)
          await deviceOf(page)
          await added(page, who)
          expect(await page.textContent('main')).toContain('Your passkey is added.')
          await mailTo(stack, who.email, 'passkey-added')
          await requireSecondFactor(host, kind, true)
          await signedOut(page, who)
          await page.waitForURL(/\/account$/)
          await requireSecondFactor(host, kind, false)
          expect(await page.textContent('h1')).toBe('Your account')
          expect(page.url()).toBe(who.account)
          const { json } = await stack.portal(
            'GET',
            `/sites/${host}/audit?event=sign-in.succeeded&limit=1`,
          )
          expect(json.items[0]).toMatchObject({ sub: who.sub, detail: { method: 'passkey' } })
          await follow(page, 'Remove')
          await sendForm(page, { currentPassword: PASSWORD })
          expect(await page.textContent('main')).toContain('That passkey is removed.')
          await mailTo(stack, who.email, 'passkey-removed')
        })
      },
    )

    test('are refused when they are removed, or their account is disabled', async () => {
      await withTab(async ({ page }) => {
        const who = await person(host)
        const { cdp, authenticatorId } = await deviceOf(page)
        await added(page, who)
        const { site, pool } = who.party
        await stack.context.visitorAccounts.disable(site, who.sub, SYSTEM)
        await signedOut(page, who)
        await page.waitForSelector('.alert')
        expect(await page.textContent('.alert')).toContain('This passkey is not known here')
        await stack.context.visitorAccounts.enable(site, who.sub, SYSTEM)
        const [key] = await stack.context.passkeys.list(site, pool, who.sub)
        const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
        const { passkeys } = stack.context
        await passkeys.remove({ site, pool, origin }, who.sub, key?.credentialId ?? '')
        await signedOut(page, who)
        await page.waitForSelector('.alert')
        await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      })
    })

    test('are refused without the touch of their owner', async () => {
      await withTab(async ({ page }) => {
        const who = await person(host)
        const { cdp, authenticatorId } = await deviceOf(page)
        await added(page, who)
        await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
        await signedOut(page, who)
        const button = page.locator('form[data-passkey] button')
        await button.waitFor({ state: 'visible' })
        expect(await page.textContent('h1')).toBe('Sign in')
        expect(page.url()).toContain('/login?')
      })
    })

    test.each(POOLS)(
      'take no challenge of another browser, and none twice changed, at the %s pool',
      async (kind) => {
        await withTab(async ({ page }) => {
          const who = await person(host, kind)
          await deviceOf(page)
          await added(page, who)
          const { site, pool } = who.party
          const request = {
            site,
            pool,
            origin: { address: '192.0.2.7', userAgent: 'test', requestId: 'test' },
          }
          // One for each pool: it may come back once.
          const challenge = Buffer.from(`${kind} ${host}`.padEnd(32)).toString('base64url')
          const credential = await page.evaluate(signed, { challenge, rpId: host })
          const { passkeys } = stack.context
          const other = passkeys.authenticate(request, { credential, challenge: 'd'.repeat(43) })
          await expect(other).rejects.toMatchObject({ code: 'InvalidCredentials' })
          const empty = passkeys.authenticate(request, { credential, challenge: '' })
          await expect(empty).rejects.toMatchObject({ code: 'InvalidCredentials' })
          for (const broken of ['', '{}', 'null', '[]', credential.slice(1), 'x'.repeat(70_000)]) {
            const answer = passkeys.authenticate(request, { credential: broken, challenge })
            await expect(answer).rejects.toMatchObject({ code: 'InvalidCredentials' })
          }
          const elsewhere = await RelyingParty.of(stack, host === shared ? apart : shared, kind)
          const foreign = { ...request, site: elsewhere.site, pool: elsewhere.pool }
          const moved = passkeys.authenticate(foreign, { credential, challenge })
          await expect(moved).rejects.toMatchObject({ code: 'InvalidCredentials' })
          await expect(passkeys.authenticate(request, { credential, challenge })).resolves.toEqual({
            sub: who.sub,
          })
        })
      },
    )
  })

  test('show no button where there are none, and passwords as they are typed', async () => {
    await withTab(async ({ page }) => {
      const { party } = await person(shared)
      await page.addInitScript('delete globalThis.PublicKeyCredential')
      await page.goto(`${scheme}://${shared}${party.page('login')}`)
      expect(await page.locator('form[data-passkey]').isVisible()).toBe(false)
      await page.fill('#password', 'Secret')
      await page.click('text=Show password')
      expect(await page.getAttribute('#password', 'type')).toBe('text')
      await page.click('text=Hide password')
      expect(await page.getAttribute('#password', 'type')).toBe('password')
    })
  })
})

/** Of browsers, which no type here knows. */
interface Devices {
  readonly credentials: { get(options: object): Promise<unknown> }
}

/** In the page: what the device signs, as the page's own script would send it. */
async function signed(asked: { challenge: string; rpId: string }): Promise<string> {
  const bytes = (text: string) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
  const publicKey = { ...asked, challenge: bytes(asked.challenge), userVerification: 'required' }
  const { credentials } = globalThis.navigator as unknown as Devices
  return JSON.stringify(await credentials.get({ publicKey }))
}
