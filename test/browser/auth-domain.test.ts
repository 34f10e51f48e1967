import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'

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
import { testCertificate } from '#test/test-certificate.ts'
import { deviceOf } from '#test/virtual-authenticator.ts'

const HOST = 'shop.localhost'
const AUTH = `auth.${HOST}`
const NEWER = 'Another-horse-8'

const missing = chromiumMissing()

/** TLS in front of a service that speaks HTTP. */
async function tlsBefore(port: number) {
  const server = createServer(await testCertificate(), (incoming, response) => {
    const { method, url: path, headers } = incoming
    const onward = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const own = address !== null && typeof address === 'object' ? address.port : 0
  return {
    port: own,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe.skipIf(missing).each(['http', 'https'] as const)(
  'a visitors’ sign-in on a name of its own in Chromium, %s',
  (scheme) => {
    let stack: Stack
    let chromium: Browser
    let party: RelyingParty
    let proxy: Awaited<ReturnType<typeof tlsBefore>> | undefined
    beforeAll(async () => {
      stack = await startStack({ sites: [HOST], config: { baseUrl: `${scheme}://localhost` } })
      proxy = scheme === 'https' ? await tlsBefore(stack.port) : undefined
      await stack.portal('PATCH', `/sites/${HOST}`, { authDomain: AUTH })
      chromium = await launchChromium(proxy?.port ?? stack.port)
      party = await RelyingParty.of(stack, HOST)
    })
    afterAll(async () => {
      await chromium.close()
      await proxy?.close()
      await stack[Symbol.asyncDispose]()
    })

    const tabOf = (): Promise<Tab> => openTab(chromium, { ignoreHTTPSErrors: scheme === 'https' })
    const page = (host: string, path: string) => `${scheme}://${host}${path}`
    const authorize = (host: string) => page(host, party.page('oauth2/authorize'))
    const isBack = ({ href }: URL) => href.startsWith(`${scheme}://${HOST}/auth/callback?`)

    async function signUp(tab: Page, email: string): Promise<void> {
      await tab.goto(authorize(AUTH))
      await follow(tab, 'Create one')
      await sendForm(tab, { username: email, password: PASSWORD })
      await sendForm(tab, { code: codeIn(await mailTo(stack, email, 'verification')) })
    }

    test('signs up, comes back unasked, signs out, resets the password and signs in', async () => {
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

    // Chromium has no passkeys behind a certificate that it does not trust.
    test.skipIf(scheme === 'https')('uses a passkey of the domain', async () => {
      await using tab = await tabOf()
      const { page: at } = tab
      await deviceOf(at)
      await signUp(at, `key-${scheme}@visitors.test`)
      await at.goto(page(AUTH, `${party.path}/account/passkey`))
      await sendForm(at, { currentPassword: PASSWORD }, 'form[data-passkey] button.button')
      expect(await at.textContent('main')).toContain('Your passkey is added.')
      await at.context().clearCookies({ name: /croft_session/ })
      await at.goto(page(AUTH, `${party.path}/account`))
      await at.waitForURL(/\/account$/)
      expect(await at.textContent('h1')).toBe('Your account')
      expect(new URL(at.url()).hostname).toBe(AUTH)
    })
  },
)
