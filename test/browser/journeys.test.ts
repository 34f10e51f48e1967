import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chromiumMissing, follow, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { type ClientApp, startClientApp } from '#test/client-app.ts'
import { googleFor } from '#test/google-sign-in.ts'
import { codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'
const NO_SCRIPT = { javaScriptEnabled: false }

/** Where the keyboard is, and whether one can see it. */
const FOCUS = `(() => {
  const { id, textContent } = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  return { at: id || textContent.trim(), isSeen: outlineStyle !== 'none' && outlineWidth !== '0px' }
})()`

const missing = chromiumMissing()

describe.skipIf(missing)(`a person in Chromium${missing ? ` (${missing})` : ''}`, () => {
  let stack: Stack
  let chromium: Browser
  let app: ClientApp
  let client: RelyingParty
  beforeAll(async () => {
    stack = await startStack({ sites: ['one.test'] })
    app = await startClientApp()
    await stack.portal('PATCH', '/sites/one.test/auth', {
      data: { clients: { default: { redirectUris: [app.redirectUri] } } },
    })
    client = await RelyingParty.of(stack, 'one.test')
    chromium = await launchChromium()
  })
  afterAll(async () => {
    await chromium.close()
    await app[Symbol.asyncDispose]()
    await stack[Symbol.asyncDispose]()
  })

  const url = (path: string) => stack.baseUrl('one.test') + path
  const authorize = () => url(client.page('oauth2/authorize', { redirect_uri: app.redirectUri }))
  const tokens = async (callback: string, changes: Record<string, string> = {}) =>
    (await client.exchange(new URL(callback).searchParams.get('code') ?? '', changes)).json
  const appTokens = (callback: string) => tokens(callback, { redirect_uri: app.redirectUri })

  test('takes an invite, sets a password, signs in and sees the profile, without a script', async () => {
    const invite = linkIn(await mailTo(stack, 'ann@one.test', 'invite'))
    const token = new URL(invite).searchParams.get('token') ?? ''
    await using tab = await openTab(chromium, NO_SCRIPT)
    const { page } = tab
    const sent: string[] = []
    page.on('request', (request) => {
      const { referer = '' } = request.headers()
      sent.push(referer, ...(request.url() === invite ? [] : [request.url()]))
    })
    await page.goto(invite)
    expect(await page.title()).toBe('Welcome · one.test')
    await sendForm(page, { password: PASSWORD, confirmPassword: PASSWORD })
    expect(await page.title()).toBe('Your account is ready · one.test')
    expect(page.url()).toBe(url('/admin/public/onboarding/super-admin'))
    expect(sent.filter((text) => text.includes(token))).toEqual([])

    const admin = await RelyingParty.of(stack, 'one.test', 'admin')
    await page.goto(url(admin.page('oauth2/authorize')))
    const callback = page.waitForRequest((request) =>
      request.url().startsWith(`${admin.redirectUri}?`),
    )
    await sendForm(page, { username: 'ann@one.test', password: PASSWORD })
    const code = new URL((await callback).url()).searchParams.get('code') ?? ''
    const { access_token } = (await admin.exchange(code)).json
    const profile = await stack.call('one.test', 'GET', '/admin/api/profile', {
      token: access_token,
    })
    expect(profile).toMatchObject({ status: 200, json: { primaryEmail: 'ann@one.test' } })
    expect(tab.complaints).toEqual([])
  })

  test('signs up with a mailed code and arrives at an application on another origin', async () => {
    await using tab = await openTab(chromium, NO_SCRIPT)
    const { page } = tab
    await page.goto(authorize())
    await follow(page, 'Create one')
    await sendForm(page, { username: 'new@example.test', password: PASSWORD })
    expect(await page.textContent('main')).toContain('new@example.test')
    const code = codeIn(await mailTo(stack, 'new@example.test', 'verification'))
    await sendForm(page, { code })
    expect(page.url().startsWith(`${app.redirectUri}?`)).toBe(true)
    expect(await appTokens(page.url())).toMatchObject({ token_type: 'Bearer' })
    const { url: arrival, headers } = app.visits.at(-1) ?? {}
    expect(arrival?.searchParams.get('state')).toBe('st-1')
    expect([undefined, `${stack.baseUrl('one.test')}/`]).toContain(headers?.referer)
    expect(tab.complaints).toEqual([])
  })

  test('comes back without being asked, as long as the browser remembers', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.goto(url(client.page('signup')))
    await sendForm(page, { username: 'again@example.test', password: PASSWORD })
    const code = codeIn(await mailTo(stack, 'again@example.test', 'verification'))
    await sendForm(page, { code })
    await page.goto(authorize())
    expect(page.url().startsWith(`${app.redirectUri}?`)).toBe(true)

    await page.goto(url(`${client.path}/logout`))
    await sendForm(page, {})
    expect(await page.title()).toBe('You are signed out · one.test')
    await page.goto(authorize())
    expect(await page.title()).toBe('Sign in · one.test')
    expect(tab.complaints).toEqual([])
  })

  test('comes with Google, and back to the application', async () => {
    await using google = await googleFor(stack, ['one.test'])
    google.person = { subject: 'g-1', email: 'gail@gmail.test' }
    await using tab = await openTab(chromium, NO_SCRIPT)
    const { page } = tab
    await page.goto(authorize())
    await page.click('text=Continue with Google')
    await page.waitForURL(`${app.redirectUri}?*`)
    const { access_token } = await appTokens(page.url())
    expect((await client.userInfo(access_token)).json).toMatchObject({ email: 'gail@gmail.test' })

    google.person = { subject: 'g-2', email: 'gail@gmail.test' }
    await using other = await openTab(chromium, NO_SCRIPT)
    await other.page.goto(authorize())
    await other.page.click('text=Continue with Google')
    await other.page.waitForURL(/idpresponse/)
    expect(await other.page.textContent('h1')).toMatch(/account/)
    expect([...tab.complaints, ...other.complaints]).toEqual([])
  })

  test('who forgot the password sets a new one and signs in with it', async () => {
    const sub = await client.user('lost@example.test')
    const origin = { address: '192.0.2.1', userAgent: 'test', requestId: 'test' }
    const account = { sub, password: PASSWORD }
    await stack.context.ownPasswords.add({ site: client.site, pool: client.pool, origin }, account)
    await using tab = await openTab(chromium, NO_SCRIPT)
    const { page } = tab
    await page.goto(authorize())
    await follow(page, 'Forgot password?')
    await sendForm(page, { username: 'lost@example.test' })
    const code = codeIn(await mailTo(stack, 'lost@example.test', 'reset'))
    await sendForm(page, { code, password: 'Another-horse-8' })
    expect(await page.textContent('[role=status]')).toContain('Your password is changed')
    expect(await page.inputValue('#username')).toBe('lost@example.test')
    await sendForm(page, { password: 'Another-horse-8' })
    expect(page.url().startsWith(`${app.redirectUri}?`)).toBe(true)
    expect(tab.complaints).toEqual([])
  })

  test('shows a mistyped field, keeps the address and focuses the password', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.goto(authorize())
    await sendForm(page, { username: 'nobody@example.test', password: 'Wrong-horse-7' })
    expect(await page.textContent('[role=alert]')).toBe(
      'The email address or the password is wrong.',
    )
    expect(await page.inputValue('#username')).toBe('nobody@example.test')
    expect(await page.inputValue('#password')).toBe('')
    expect(await page.getAttribute(':focus', 'id')).toBe('password')
    expect(await page.content()).not.toContain('Wrong-horse-7')
    expect(tab.complaints).toEqual([])
  })

  test('links Google on the account’s page, to which the form leads on', async () => {
    await using google = await googleFor(stack, ['one.test'])
    google.person = { subject: 'g-linker', email: 'linker@gmail.test' }
    const email = 'linker@example.test'
    const sub = await client.user(email)
    const { site, pool } = client
    const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
    await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.goto(url(`${client.path}/account`))
    await sendForm(page, { username: email, password: PASSWORD })
    await page.click('a:has-text("Link")')
    await page.waitForSelector('[name=currentPassword]')
    await sendForm(page, { currentPassword: PASSWORD })
    await page.waitForSelector('text=linker@gmail.test')
    expect(await page.textContent('h1')).toBe('Your account')
    expect(tab.complaints).toEqual([])
    await stack.portal('DELETE', '/sites/one.test/auth/providers/google')
  })

  test('who has no mouse signs up, and always sees where the keyboard is', async () => {
    await using tab = await openTab(chromium)
    const { page } = tab
    const here = () => page.evaluate(FOCUS)
    const walk = async (key: string) => {
      await page.keyboard.press(key)
      return here()
    }
    const seen = (at: string) => ({ at, isSeen: true })
    const enter = async () => {
      const loaded = page.waitForEvent('load')
      await page.keyboard.press('Enter')
      await loaded
    }

    await page.goto(authorize())
    expect(await here()).toEqual(seen('username'))
    const stops = ['password', 'Show password', 'Sign in', 'Forgot password?', 'Create one']
    for (const stop of stops) {
      expect(await walk('Tab')).toEqual(seen(stop))
    }
    await enter()
    expect(await here()).toEqual(seen('username'))
    await page.keyboard.type('keys@example.test')
    expect(await walk('Tab')).toEqual(seen('password'))
    await page.keyboard.type('short')
    await enter()
    expect(await here()).toEqual(seen('password'))
    await page.keyboard.type(PASSWORD)
    await enter()
    expect(await here()).toEqual(seen('code'))
    for (const stop of ['Confirm', 'send it again', 'Start again']) {
      expect(await walk('Tab')).toEqual(seen(stop))
    }
    for (const stop of ['send it again', 'Confirm', 'code']) {
      expect(await walk('Shift+Tab')).toEqual(seen(stop))
    }
    await page.keyboard.type(codeIn(await mailTo(stack, 'keys@example.test', 'verification')))
    await enter()
    expect(page.url().startsWith(`${app.redirectUri}?`)).toBe(true)
    expect(tab.complaints).toEqual([])
  })
})
