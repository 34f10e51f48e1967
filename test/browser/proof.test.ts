import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { chromiumMissing, follow, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { deviceOf } from '#test/virtual-authenticator.ts'

/** Chromium has passkeys there without TLS. */
const HOST = 'shop.localhost'
const ORIGIN = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
const PROOF = '[data-proof] button'

const missing = chromiumMissing()

describe.skipIf(missing)(`proofs in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  beforeAll(async () => {
    stack = await startStack({ sites: [HOST], config: { baseUrl: 'http://localhost' } })
    chromium = await launchChromium(stack.port)
  })
  afterAll(async () => {
    await chromium.close()
    await stack[Symbol.asyncDispose]()
  })

  let people = 0
  /** Somebody with a password and a passkey, who is signed in. */
  async function person(page: Page) {
    const party = await RelyingParty.of(stack, HOST, 'data')
    const email = `p${++people}@visitors.test`
    const sub = await party.user(email)
    const { site, pool } = party
    const request = { site, pool, origin: ORIGIN }
    await stack.context.ownPasswords.add(request, { sub, password: PASSWORD })
    const account = `http://${HOST}${party.path}/account`
    await page.goto(account)
    await sendForm(page, { username: email, password: PASSWORD })
    await page.goto(`${account}/passkey`)
    await sendForm(page, { currentPassword: PASSWORD }, 'form[data-passkey] button.button')
    return {
      email,
      sub,
      account,
      request,
      passkeys: () => stack.context.passkeys.list(site, pool, sub),
    }
  }

  const withoutPassword = ({ sub }: { readonly sub: string }) =>
    asSuperuser(stack, (sql) => sql`delete from user_password where sub = ${sub}`)

  test('a passkey does for the password, beside it and without it', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await deviceOf(page)
    const who = await person(page)
    await page.goto(`${who.account}/address`)
    const wanted = `new-${who.email}`
    await page.click(PROOF)
    // The browser asks for what is missing before the device is.
    expect(await page.textContent('h1')).toBe('Your email address')
    await sendForm(page, { username: wanted }, PROOF)
    expect(await page.textContent('main')).toContain(`We have sent a message to ${wanted}`)

    await withoutPassword(who)
    await page.goto(`${who.account}/password`)
    expect(await page.locator('#currentPassword').count()).toBe(0)
    await sendForm(page, { password: 'Tr4vel-lighter' }, PROOF)
    expect(await page.textContent('main')).toContain('Your password is changed')
    await mailTo(stack, who.email, 'password-changed')

    await withoutPassword(who)
    await page.goto(who.account)
    await follow(page, 'Remove')
    await sendForm(page, {}, PROOF)
    expect(await page.textContent('main')).toContain('That passkey is removed.')
    expect(await who.passkeys()).toEqual([])
    expect(tab.complaints).toEqual([])
  })

  test('an account that has neither proves itself by a mailed code, also to add a passkey', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await deviceOf(page)
    const who = await person(page)
    await withoutPassword(who)
    const [key] = await who.passkeys()
    await stack.context.passkeys.remove(who.request, who.sub, key?.credentialId ?? '')
    await page.goto(`${who.account}/passkey`)
    await sendForm(page, {}, 'button[value=send-proof-code]')
    const proofCode = codeIn(await mailTo(stack, who.email, 'proof'))
    // The device has forgotten the key by the account's own doing only.
    await sendForm(page, { proofCode }, 'form[data-passkey] button.button')
    expect(await page.textContent('main')).toContain('Your passkey is added.')
    expect(await who.passkeys()).toHaveLength(1)
    expect(tab.complaints).toEqual([])
  })
})
