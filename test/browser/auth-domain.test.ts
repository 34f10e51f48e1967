import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import {
  type Tab,
  chromiumMissing,
  follow,
  launchChromium,
  openTab,
  sendForm,
} from '#test/browser.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { type TlsFront, startTlsFront } from '#test/tls-front.ts'
import { deviceOf } from '#test/virtual-authenticator.ts'

const NEWER = 'Another-horse-8'

const missing = chromiumMissing()

/** Over plain HTTP, Chromium has passkeys and Fetch Metadata on this machine's own names alone. */
const PLACES = [
  { scheme: 'http', host: 'shop.localhost', old: 'old.localhost' },
  { scheme: 'https', host: 'shop.test', old: 'old.test' },
] as const

describe.skipIf(missing).each(PLACES)(
  'a visitors’ sign-in on a name of its own in Chromium, $scheme',
  ({ scheme, host: HOST, old }) => {
    const AUTH = `auth.${HOST}`
    let stack: Stack
    let chromium: Browser
    let party: RelyingParty
    let front: TlsFront | undefined
    beforeAll(async () => {
      const config = { baseUrl: `${scheme}://localhost` }
      stack = await startStack({ sites: [HOST, old], config })
      front = scheme === 'https' ? await startTlsFront(stack.port) : undefined
      await stack.portal('PATCH', `/sites/${HOST}`, { authDomain: AUTH })
      chromium = await launchChromium(front?.port ?? stack.port, front?.keyHash)
      party = await RelyingParty.of(stack, HOST)
    })
    afterAll(async () => {
      await chromium.close()
      await front?.[Symbol.asyncDispose]()
      await stack[Symbol.asyncDispose]()
    })

    const tabOf = (): Promise<Tab> => openTab(chromium)
    const page = (host: string, path: string) => `${scheme}://${host}${path}`
    const authorize = (host: string) => page(host, party.page('oauth2/authorize'))
    const isBack = ({ href }: URL) => href.startsWith(`${scheme}://${HOST}/auth/callback?`)

    async function signUp(tab: Page, email: string, at = authorize(AUTH)): Promise<void> {
      await tab.goto(at)
      await follow(tab, 'Create one')
      await sendForm(tab, { username: email, password: PASSWORD })
      await sendForm(tab, { code: codeIn(await mailTo(stack, email, 'verification')) })
    }

    test('signs up, comes back without a prompt, signs out, resets the password and signs in', async () => {
      await using tab = await tabOf()
      const { page: at } = tab
      const email = `new-${scheme}@visitors.test`
      await signUp(at, email)
      expect(isBack(new URL(at.url()))).toBe(true)
      const cookies = await at.context().cookies()
      const session = cookies.filter(({ name }) => name.includes('croft_session'))
      expect(session.map(({ domain }) => domain)).toEqual([AUTH])

      await at.goto(authorize(HOST))
      expect(isBack(new URL(at.url()))).toBe(true)
      expect(new URL(at.url()).searchParams.get('iss')).toBe(page(HOST, party.path))

      await at.goto(page(HOST, `${party.path}/logout`))
      expect(new URL(at.url()).hostname).toBe(AUTH)
      await sendForm(at, {})
      expect(await at.title()).toBe(`You are signed out · ${HOST}`)
      await at.goto(authorize(AUTH))
      expect(await at.title()).toBe(`Sign in · ${HOST}`)

      await follow(at, 'Forgot password?')
      await sendForm(at, { username: email })
      const code = codeIn(await mailTo(stack, email, 'reset'))
      await sendForm(at, { code, password: NEWER })
      await sendForm(at, { password: NEWER })
      expect(isBack(new URL(at.url()))).toBe(true)
      expect(tab.complaints).toEqual([])
    })

    test('keeps scripts of the site from the account', async () => {
      await using tab = await tabOf()
      const { page: at } = tab
      await signUp(at, `kept-${scheme}@visitors.test`)
      for (const host of [AUTH, HOST]) {
        const read = await at.evaluate(
          (address) =>
            fetch(address, { credentials: 'include' }).then(
              (response) => response.text(),
              () => 'unreadable',
            ),
          page(host, `${party.path}/account/passkey`),
        )
        expect(read).not.toContain('_csrf')
      }
    })

    /** Adds one with the password, on a page of the account. */
    async function addPasskey(at: Page, account: string): Promise<void> {
      await at.goto(`${account}/passkey`)
      await sendForm(at, { currentPassword: PASSWORD }, 'form[data-passkey] button.button')
      expect(await at.textContent('main')).toContain('Your passkey is added.')
    }

    /** Without a session, the page of the sign-in asks the device by itself. */
    async function signInByDevice(at: Page, account: string, name: string): Promise<void> {
      await at.context().clearCookies({ name: /croft_session/ })
      await at.goto(account)
      await at.waitForURL(/\/account$/)
      expect(await at.textContent('h1')).toBe('Your account')
      expect(new URL(at.url()).hostname).toBe(name)
    }

    test('uses a passkey of the domain', async () => {
      await using tab = await tabOf()
      const { page: at } = tab
      const { cdp, authenticatorId } = await deviceOf(at)
      await signUp(at, `key-${scheme}@visitors.test`)
      const account = page(AUTH, `${party.path}/account`)
      await addPasskey(at, account)
      const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
      expect(credentials).toEqual([expect.objectContaining({ rpId: HOST })])
      await signInByDevice(at, account, AUTH)
      expect(tab.complaints).toEqual([])
    })

    test('uses a passkey from before it moved, and from its own name once it moved back', async () => {
      await using tab = await tabOf()
      const { page: at } = tab
      await deviceOf(at)
      const before = await RelyingParty.of(stack, old)
      const accountAt = (name: string) => page(name, `${before.path}/account`)
      const move = (authDomain: string | null) =>
        stack.portal('PATCH', `/sites/${old}`, { authDomain })
      await signUp(at, `old-${scheme}@visitors.test`, page(old, before.page('oauth2/authorize')))
      await addPasskey(at, accountAt(old))
      const own = `auth.${old}`
      expect((await move(own)).status).toBe(200)
      for (const name of [own, old]) await signInByDevice(at, accountAt(name), own)

      await using other = await tabOf()
      await deviceOf(other.page)
      await signUp(
        other.page,
        `own-${scheme}@visitors.test`,
        page(own, before.page('oauth2/authorize')),
      )
      await addPasskey(other.page, accountAt(own))
      expect((await move(null)).status).toBe(200)
      await signInByDevice(other.page, accountAt(old), old)
      await signInByDevice(at, accountAt(own), old)
      expect([...tab.complaints, ...other.complaints]).toEqual([])
    })
  },
)
