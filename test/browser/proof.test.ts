import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { BETTER, PASSWORD } from '#test/account-owner.ts'
import { AdminPool } from '#test/admin-api.ts'
import { BROWSER_PLACES, type BrowserSites, startBrowserSites } from '#test/browser-sites.ts'
import { chromiumMissing, follow, openTab, sendForm } from '#test/browser.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import type { Stack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { deviceOf } from '#test/virtual-authenticator.ts'

const ORIGIN = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
const ADD = 'form[data-passkey] button.button[type=submit]'
const PROOF = '[data-proof] button'
/** An account for each test of a site. */
const ADMINS = 3

const missing = chromiumMissing()

describe.skipIf(missing).each(BROWSER_PLACES)('a proof in Chromium, $scheme', (place) => {
  const { scheme, shared, apart } = place
  let sites: BrowserSites
  let stack: Stack
  let chromium: Browser
  const admins = new Map<string, string[]>()
  beforeAll(async () => {
    sites = await startBrowserSites(place, async (started) => {
      for (const host of [shared, apart]) admins.set(host, await admitted(started, host))
    })
    ;({ stack, chromium } = sites)
  })
  afterAll(() => sites[Symbol.asyncDispose]())

  async function admitted(started: Stack, host: string): Promise<string[]> {
    const pool = new AdminPool(started, host)
    const emails = []
    for (let at = 0; at < ADMINS; at += 1) emails.push((await pool.joined('admin')).email)
    return emails
  }

  let visitors = 0
  /** Signed in on the pages, with a password and no passkey. */
  async function person(page: Page, host: string, kind: PoolKind) {
    const party = await RelyingParty.of(stack, host, kind)
    const email = kind === 'data' ? `p${++visitors}@visitors.test` : (admins.get(host)?.pop() ?? '')
    const sub = await party.user(email)
    const { site, pool } = party
    const request = { site, pool, origin: ORIGIN }
    await stack.context.ownPasswords.add(request, { sub, password: PASSWORD })
    const account = `${pool.issuer}/account`
    await page.goto(account)
    await sendForm(page, { username: email, password: PASSWORD })
    const own = kind === 'data' ? `auth.${host}` : `admin.${host}`
    const name = host === apart ? own : host
    expect(page.url()).toBe(`${scheme}://${name}${party.path}/account`)
    const passkeys = () => stack.context.passkeys.list(site, pool, sub)
    return {
      email,
      account,
      passkeys,
      withoutPassword: () =>
        asSuperuser(stack, (sql) => sql`delete from user_password where sub = ${sub}`),
      async withPasskey() {
        await page.goto(`${account}/passkey`)
        await sendForm(page, { currentPassword: PASSWORD }, ADD)
        expect(await page.textContent('main')).toContain('Your passkey is added.')
      },
    }
  }

  describe.each([
    ['the origin of the site', shared],
    ['an origin of its own', apart],
  ])('on %s', (_where, host) => {
    describe.each(['data', 'admin'] as const)('at the %s pool', (kind) => {
      test('is the password, and a wrong one changes nothing', async () => {
        await using tab = await openTab(chromium)
        const { page } = tab
        await deviceOf(page)
        const who = await person(page, host, kind)
        const wrong = { currentPassword: PASSWORD.toUpperCase() }
        await page.goto(`${who.account}/passkey`)
        await sendForm(page, wrong, ADD)
        expect(await page.textContent('main')).toContain('Is wrong')
        expect(await who.passkeys()).toEqual([])
        await page.goto(`${who.account}/password`)
        await sendForm(page, { ...wrong, password: BETTER })
        expect(await page.textContent('main')).toContain('Is wrong')
        // The old password is still the password.
        await who.withPasskey()
        expect(await who.passkeys()).toHaveLength(1)
        await mailTo(stack, who.email, 'passkey-added')
        expect(tab.complaints).toEqual([])
      })

      test('is a passkey, beside a password and without one', async () => {
        await using tab = await openTab(chromium)
        const { page } = tab
        const { cdp, authenticatorId } = await deviceOf(page)
        const who = await person(page, host, kind)
        await who.withPasskey()
        await page.goto(`${who.account}/address`)
        const wanted = `new-${who.email}`
        await page.click(PROOF)
        // The browser asks for what is missing before the device is.
        expect(await page.textContent('h1')).toBe('Your email address')
        await sendForm(page, { username: wanted }, PROOF)
        expect(await page.textContent('main')).toContain(`We have sent a message to ${wanted}`)

        await who.withoutPassword()
        await page.goto(`${who.account}/password`)
        expect(await page.locator('#currentPassword').count()).toBe(0)
        await sendForm(page, { password: BETTER }, PROOF)
        expect(await page.textContent('main')).toContain('Your password is changed')
        await mailTo(stack, who.email, 'password-changed')

        // A device holds one passkey of an account: its owner takes another for the second.
        await page.exposeFunction('takeAnother', async () => {
          await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
          await deviceOf(page)
        })
        await page.addInitScript(creatingElsewhere)
        await who.withoutPassword()
        await page.goto(`${who.account}/passkey`)
        await sendForm(page, {}, PROOF)
        expect(await page.textContent('main')).toContain('Your passkey is added.')
        expect(await who.passkeys()).toHaveLength(2)

        await follow(page, 'Remove')
        await sendForm(page, {}, PROOF)
        expect(await page.textContent('main')).toContain('That passkey is removed.')
        expect(await who.passkeys()).toHaveLength(1)
        expect(tab.complaints).toEqual([])
      })

      test('is a mailed code for an account that has neither, also to add a passkey', async () => {
        await using tab = await openTab(chromium)
        const { page } = tab
        await deviceOf(page)
        const who = await person(page, host, kind)
        await who.withoutPassword()
        await page.goto(`${who.account}/passkey`)
        await sendForm(page, {}, 'button[value=send-proof-code]')
        const proofCode = codeIn(await mailTo(stack, who.email, 'proof'))
        const wrong = proofCode === '000000' ? '000001' : '000000'
        await sendForm(page, { proofCode: wrong }, ADD)
        expect(await page.textContent('main')).toContain('The code is wrong')
        expect(await who.passkeys()).toEqual([])
        await sendForm(page, { proofCode }, ADD)
        expect(await page.textContent('main')).toContain('Your passkey is added.')
        expect(await who.passkeys()).toHaveLength(1)
        expect(tab.complaints).toEqual([])
      })
    })
  })
})

/** In the page: its owner takes another device when it asks for a new passkey. */
function creatingElsewhere(): void {
  type Create = (options: unknown) => Promise<unknown>
  const { navigator, takeAnother } = globalThis as unknown as {
    readonly navigator: { readonly credentials: { create: Create } }
    readonly takeAnother: () => Promise<void>
  }
  const create = navigator.credentials.create.bind(navigator.credentials)
  navigator.credentials.create = async (options) => {
    await takeAnother()
    return create(options)
  }
}
