import type { User } from 'oidc-client-ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pools/model.ts'
import { chromiumMissing, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { type ClientApp, startClientApp } from '#test/client-app.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'
const ORIGIN = { address: '192.0.2.1', userAgent: 'test', requestId: 'test' }
const POOLS = [
  ['one.test', 'data'],
  ['one.test', 'admin'],
  ['two.test', 'data'],
  ['two.test', 'admin'],
] as const

const missing = chromiumMissing()

describe.skipIf(missing)(`oidc-client-ts in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  let app: ClientApp
  beforeAll(async () => {
    stack = await startStack()
    app = await startClientApp()
    const client = { redirectUris: [app.redirectUri], logoutUris: [`${app.origin}/`] }
    for (const host of ['one.test', 'two.test']) {
      const settings = { clients: { default: client } }
      await stack.portal('PATCH', `/sites/${host}/auth`, { data: settings, admin: settings })
    }
    chromium = await launchChromium()
  })
  afterAll(async () => {
    await chromium.close()
    await app[Symbol.asyncDispose]()
    await stack[Symbol.asyncDispose]()
  })

  /** Somebody with a password, and the client with which they sign in. */
  async function account(host: string, kind: PoolKind) {
    const client = await RelyingParty.of(stack, host, kind)
    const { accounts } = stack.context
    const email = kind === 'admin' ? `ann@${host}` : `visitor@${host}`
    if (kind === 'admin') {
      const invite = new URL(linkIn(await mailTo(stack, email, 'invite')))
      const token = invite.searchParams.get('token') ?? ''
      await accounts.takeInvite(client.site, { token, password: PASSWORD }, ORIGIN)
    } else {
      const addition = { sub: await client.user(email), password: PASSWORD }
      await accounts.addPassword(client.site, client.pool, addition, ORIGIN)
    }
    return { client, email }
  }

  /** The library in the page, at the pool of that client. */
  const manager = ({ pool }: RelyingParty) =>
    `new oidc.UserManager(${JSON.stringify({
      authority: pool.issuer,
      client_id: pool.clientId,
      redirect_uri: app.redirectUri,
      post_logout_redirect_uri: `${app.origin}/`,
      scope: 'openid email profile',
      automaticSilentRenew: false,
      fetchRequestCredentials: 'omit',
    })})`

  const ask = (page: Page, expression: string) =>
    page.evaluate(
      `${expression}.then((user) => user && { ...user, profile: user.profile })`,
    ) as Promise<User>

  const leave = async (page: Page, expression: string) => {
    const loaded = page.waitForEvent('load')
    await page.evaluate(`void ${expression}`)
    await loaded
  }

  test.each(POOLS)('signs in, refreshes, revokes and signs out at %s, %s', async (host, kind) => {
    const { client, email } = await account(host, kind)
    await using tab = await openTab(chromium)
    const { page } = tab
    const library = manager(client)

    await page.goto(app.origin)
    await leave(page, `${library}.signinRedirect({ state: 'kept' })`)
    expect(page.url().startsWith(`${client.pool.issuer}/login?`)).toBe(true)
    await sendForm(page, { username: email, password: PASSWORD })
    const user = await ask(page, `${library}.signinRedirectCallback()`)
    expect(user.profile).toMatchObject({ email, iss: client.pool.issuer })
    expect(await client.isTaken(user.access_token)).toBe(true)

    const renewed = await ask(page, `${library}.signinSilent()`)
    expect(renewed.refresh_token).not.toBe(user.refresh_token)
    expect(renewed.profile.sub).toBe(user.profile.sub)

    await page.evaluate(`${library}.revokeTokens(['refresh_token'])`)
    expect((await client.refresh(renewed.refresh_token ?? '')).status).toBe(400)

    await leave(page, `${library}.signoutRedirect()`)
    expect(new URL(page.url()).origin).toBe(app.origin)
    await leave(page, `${library}.signinRedirect()`)
    expect(await page.title()).toBe(`Sign in · ${host}`)
    expect(tab.complaints).toEqual([])
  })

  test('signs in through a window of its own, which finds back to the page that opened it', async () => {
    const client = await RelyingParty.of(stack, 'one.test')
    const addition = { sub: await client.user('popup@one.test'), password: PASSWORD }
    await stack.context.accounts.addPassword(client.site, client.pool, addition, ORIGIN)
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.goto(app.origin)
    const opened = page.waitForEvent('popup')
    const signedIn = ask(page, `${manager(client)}.signinPopup()`)
    const popup = await opened
    await popup.fill('#username', 'popup@one.test')
    await popup.fill('#password', PASSWORD)
    await popup.click('main form button.button')
    expect((await signedIn).profile.email).toBe('popup@one.test')
    expect(tab.complaints).toEqual([])
  })

  test('learns that nobody is signed in without showing a page', async () => {
    const client = await RelyingParty.of(stack, 'one.test')
    await using tab = await openTab(chromium)
    await tab.page.goto(app.origin)
    await leave(tab.page, `${manager(client)}.signinRedirect({ prompt: 'none' })`)
    const answer = tab.page.evaluate(
      `${manager(client)}.signinRedirectCallback().then(() => '', ({ error }) => error)`,
    )
    expect(await answer).toBe('login_required')
  })
})
