import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser, textOf } from '#test/form-browser.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'
const WRONG = 'Wrong-horse-7'
const ORIGIN = { address: '192.0.2.1', userAgent: 'test', requestId: 'test' }

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const browser = () => new FormBrowser(stack, 'one.test')

async function account(email: string): Promise<void> {
  const sub = await client.user(email)
  await stack.context.ownPasswords.add(
    { site: client.site, pool: client.pool, origin: ORIGIN },
    { sub, password: PASSWORD },
  )
}

async function signIn(
  email: string,
  password: string,
  visitor = browser(),
  page = client.page('login'),
) {
  return visitor.submit(await visitor.get(page), { username: email, password })
}

describe('a sign-in', () => {
  test('goes to the client with a code, and stays with the browser', async () => {
    await account('ann@example.test')
    const visitor = browser()
    const answer = await signIn(' ann@example.test ', PASSWORD, visitor)
    expect(answer.status).toBe(303)
    const callback = new URL(answer.headers['location'] ?? '')
    expect((await client.exchange(callback.searchParams.get('code') ?? '')).status).toBe(200)
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })

    const again = await visitor.get(client.page('oauth2/authorize'))
    expect(again.headers['location']).toContain(`${client.redirectUri}?`)
  })

  test('takes a new session each time, so that a session cannot be handed over', async () => {
    await account('fixed@example.test')
    const visitor = browser()
    visitor.cookies.set('croft_session', 'A'.repeat(43))
    await signIn('fixed@example.test', PASSWORD, visitor)
    const first = visitor.cookies.get('croft_session')
    expect(first).not.toBe('A'.repeat(43))
    await signIn('fixed@example.test', PASSWORD, visitor)
    expect(visitor.cookies.get('croft_session')).not.toBe(first)
  })

  test('is refused in one wording, whatever was wrong', async () => {
    await account('bob@example.test')
    await client.user('provider-only@example.test')
    const refusals = [
      await signIn('bob@example.test', WRONG),
      await signIn('nobody@example.test', WRONG),
      await signIn('provider-only@example.test', WRONG),
    ]
    const words = refusals.map(({ text }) => textOf(text))
    expect(new Set(words).size).toBe(1)
    expect(words[0]).toContain('The email address or the password is wrong')
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400])
  })

  test('that is refused keeps the address, never the password, and says so to screen readers', async () => {
    const { text, headers } = await signIn('"eve"@example.test', WRONG)
    expect(text).toContain('value="&#34;eve&#34;@example.test"')
    expect(text).not.toContain(WRONG)
    expect(JSON.stringify(headers)).not.toContain(WRONG)
    expect(text).toContain('<title>Error: Sign in · one.test</title>')
    expect(text).toMatch(/id="alert" role="alert"/)
    expect(text).toMatch(
      /<input[^>]*id="password"[^>]*aria-describedby="alert" aria-invalid="true" autofocus/,
    )
    expect(headers['set-cookie'] ?? '').not.toContain('croft_session')
  })

  test('goes on in a browser where it was right before, while strangers guess', async () => {
    const email = 'besieged@example.test'
    await account(email)
    const own = browser()
    await signIn(email, PASSWORD, own)
    expect([...own.cookies.keys()]).toContain('croft_known')
    const statuses = []
    for (let guess = 0; guess < 8; guess += 1)
      statuses.push((await signIn(email, 'Wrong-1')).status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
    expect((await signIn(email, PASSWORD)).status).toBe(429)
    expect((await signIn(email, PASSWORD, own)).status).toBe(303)
    const forged = browser()
    forged.cookies.set('croft_known', 'x'.repeat(200))
    expect((await signIn(email, PASSWORD, forged)).status).toBe(429)
  })

  test('without an address and a password says so at both', async () => {
    for (const name of ['login', 'signup']) {
      const visitor = browser()
      const page = await visitor.get(client.page(name))
      const answer = await visitor.submit(page, { username: '', password: '' })
      expect(answer.status, name).toBe(400)
      expect(answer.text).toContain('id="username-fault"')
      expect(answer.text).toContain('id="password-fault"')
    }
  })

  test('waits after too many failures, and says how long', async () => {
    await account('slow@example.test')
    let answer = await signIn('slow@example.test', WRONG)
    for (let tries = 1; tries < 12 && answer.status !== 429; tries++) {
      answer = await signIn('slow@example.test', WRONG)
    }
    expect(answer.status).toBe(429)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(textOf(answer.text)).toMatch(/Please wait (?:a second|\d+ (?:seconds|minutes))/)
    expect(answer.text).toContain('value="slow@example.test"')
  })
})

describe('a forgotten password', () => {
  async function forgot(email: string, visitor = browser()) {
    const form = await visitor.get(client.page('forgotPassword'))
    const sent = await visitor.submit(form, { username: email })
    expect(sent.status).toBe(303)
    return { visitor, page: await visitor.get(sent.headers['location'] ?? '') }
  }

  test('is replaced with the mailed code, and the new one signs in', async () => {
    await account('lost@example.test')
    const { visitor, page } = await forgot('lost@example.test')
    const code = codeIn(await mailTo(stack, 'lost@example.test', 'reset'))
    const password = 'Another-horse-8'
    const answer = await visitor.submit(page, { code, password })
    expect(answer.status).toBe(303)
    const login = await visitor.get(answer.headers['location'] ?? '')
    expect(textOf(login.text)).toContain('Your password is changed')
    expect(login.text).toContain('value="lost@example.test"')
    const signedIn = await visitor.submit(login, { username: 'lost@example.test', password })
    expect(signedIn.headers['location']).toContain(`${client.redirectUri}?`)
    expect((await signIn('lost@example.test', PASSWORD)).status).toBe(400)
  })

  test('is answered in one wording, whether there is an account or not', async () => {
    await account('here@example.test')
    const pages = [await forgot('here@example.test'), await forgot('gone@example.test')]
    const words = pages.map(({ page }) =>
      textOf(page.text).replace(/(?:here|gone)@example\.test/, 'x'),
    )
    expect(words[1]).toBe(words[0])
    await mailTo(stack, 'here@example.test', 'reset')
    expect(await allMailTo(stack, 'gone@example.test')).toEqual([])
  })

  test('stays as it was with a wrong code, and keeps the code that was typed', async () => {
    const { visitor, page } = await forgot('gone-too@example.test')
    const answer = await visitor.submit(page, { code: '123456', password: 'Another-horse-8' })
    expect(answer.status).toBe(400)
    expect(textOf(answer.text)).toContain('The code is wrong')
    expect(answer.text).toMatch(/id="code"[^>]* value="123456"/)
    expect(answer.text).not.toContain('Another-horse-8')
  })

  test('tells a password manager whose password is set', async () => {
    const { page } = await forgot('manager@example.test')
    expect(page.text).toMatch(/autocomplete="username"\s+value="manager@example\.test"\s+hidden/)
  })

  test('begins again after its end', async () => {
    const answer = await browser().get(client.page('confirmForgotPassword'))
    expect(answer.headers['location']).toBe(client.page('forgotPassword'))
  })
})
