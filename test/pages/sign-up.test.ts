import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser, actionOf, textOf } from '#test/form-browser.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const browser = () => new FormBrowser(stack, 'one.test')

/** Signs up and gets the page that asks for the code. */
async function signUp(email: string, visitor = browser()) {
  const form = await visitor.get(client.page('signup'))
  const answer = await visitor.submit(form, { username: email, password: PASSWORD })
  expect(answer.status).toBe(303)
  const location = answer.headers['location'] ?? ''
  return { visitor, location, page: await visitor.get(location) }
}

describe('a sign-up', () => {
  test('is confirmed with the mailed code, and signed in by it', async () => {
    const { visitor, location, page } = await signUp('new@example.test')
    expect(location).toMatch(/^\/oidc\/[\w-]+\/confirmUser\?/)
    expect(location).not.toContain('example.test')
    expect(textOf(page.text)).toContain('new@example.test')

    const code = codeIn(await mailTo(stack, 'new@example.test', 'verification'))
    const answer = await visitor.submit(page, { code: `${code.slice(0, 3)} ${code.slice(3)}` })
    expect(answer.status).toBe(303)
    const callback = new URL(answer.headers['location'] ?? '')
    expect(callback.href.startsWith(`${client.redirectUri}?`)).toBe(true)
    expect(callback.searchParams.get('state')).toBe('st-1')
    expect(answer.headers['set-cookie']).toMatch(
      /^croft_session=[\w-]{43}; Path=\/oidc\/[\w-]+; HttpOnly; SameSite=Lax; Expires=/,
    )
    const tokens = await client.exchange(callback.searchParams.get('code') ?? '')
    expect(tokens.status).toBe(200)
    const { json } = await client.userInfo(tokens.json.access_token)
    expect(json).toMatchObject({ email: 'new@example.test' })
  })

  test('survives a wrong code, and says what to do', async () => {
    const { visitor, page } = await signUp('slip@example.test')
    const code = codeIn(await mailTo(stack, 'slip@example.test', 'verification'))
    const wrong = await visitor.submit(page, {
      code: String((Number(code) + 1) % 1e6).padStart(6, '0'),
    })
    expect(wrong.status).toBe(400)
    expect(wrong.text).toContain('<title>Error: Check your mail · one.test</title>')
    expect(textOf(wrong.text)).toContain('The code is wrong')
    const right = await visitor.submit(wrong, { code })
    expect(right.headers['location']).toContain(`${client.redirectUri}?`)
  })

  test('gets another code when it asks, after which the first is dead', async () => {
    const { visitor, page } = await signUp('again@example.test')
    const first = await mailTo(stack, 'again@example.test', 'verification')
    const resent = await visitor.submit(page, { action: 'resend', code: '' })
    expect(resent.status).toBe(303)
    const waiting = await visitor.get(resent.headers['location'] ?? '')
    expect(textOf(waiting.text)).toContain('We have sent you a new code')
    const second = await mailTo(stack, 'again@example.test', 'verification', first)
    // One time in a million both are the same.
    const dead = codeIn(first) === codeIn(second) ? 'none' : codeIn(first)
    expect((await visitor.submit(waiting, { code: dead })).status).toBe(400)
    const answer = await visitor.submit(waiting, { code: codeIn(second) })
    expect(answer.headers['location']).toContain(`${client.redirectUri}?`)
  })

  test('looks the same when the address has an account', async () => {
    const fresh = await signUp('fresh@example.test')
    const visitor = browser()
    await client.user('taken@example.test')
    const taken = await signUp('taken@example.test', visitor)
    const neutral = (page: { text: string }) =>
      textOf(page.text).replaceAll(/(?:fresh|taken)@example\.test/g, 'x')
    expect(neutral(taken.page)).toBe(neutral(fresh.page))
    await mailTo(stack, 'taken@example.test', 'account-exists')
    expect(await allMailTo(stack, 'taken@example.test', 'verification')).toEqual([])
  })

  test('cannot be gone on with by another browser', async () => {
    const { location } = await signUp('shared@example.test')
    const other = browser()
    await other.get(client.page('login'))
    const answer = await other.get(location)
    expect(answer.status).toBe(303)
    expect(answer.headers['location']).toBe(client.page('login'))
  })

  test('that was left half way goes on from the sign-in', async () => {
    await signUp('later@example.test')
    const code = codeIn(await mailTo(stack, 'later@example.test', 'verification'))
    const visitor = browser()
    const login = await visitor.get(client.page('login'))
    const answer = await visitor.submit(login, {
      username: 'later@example.test',
      password: PASSWORD,
    })
    expect(answer.status).toBe(303)
    expect(answer.headers['location']).toContain('/confirmUser?')
    expect(answer.headers['set-cookie'] ?? '').not.toContain('croft_session')
    const page = await visitor.get(answer.headers['location'] ?? '')
    const confirmed = await visitor.submit(page, { code })
    expect(confirmed.headers['location']).toContain(`${client.redirectUri}?`)
  })

  test.each([
    ['a password that is too simple', 'short', 'password'],
    ['no password', '', 'password'],
  ])(
    'with %s is shown again with the reasons, and keeps the address',
    async (_what, password, field) => {
      const visitor = browser()
      const form = await visitor.get(client.page('signup'))
      const answer = await visitor.submit(form, { username: 'ann@example.test', password })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('value="ann@example.test"')
      expect(answer.text).toContain(`id="${field}-fault"`)
      expect(answer.text).toMatch(
        new RegExp(`<input[^>]*id="${field}"[^>]*aria-invalid="true"[^>]*autofocus`),
      )
      expect(answer.text).not.toContain(`value="${password}"`)
    },
  )

  test('with an address that is none says so at the address', async () => {
    const visitor = browser()
    const form = await visitor.get(client.page('signup'))
    const answer = await visitor.submit(form, { username: 'no address', password: PASSWORD })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('id="username-fault"')
    expect(answer.text).not.toContain(PASSWORD)
  })

  test('with an address that is none and a password that is refused says so at both', async () => {
    const visitor = browser()
    const page = await visitor.get(client.page('signup'))
    const answer = await visitor.submit(page, { username: 'nobody', password: 'short' })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('id="username-fault"')
    expect(answer.text).toContain('id="password-fault"')
  })
})

describe('the page for the code', () => {
  test('leads a visitor without a sign-up to the sign-in', async () => {
    const answer = await browser().get(client.page('confirmUser'))
    expect(answer.status).toBe(303)
    expect(answer.headers['location']).toBe(client.page('login'))
  })

  test('carries its flow in its form, so that a mistake does not lose it', async () => {
    const { page } = await signUp('carried@example.test')
    expect(actionOf(page.text)).toMatch(/&flow=[\w-]{100,}$/)
  })
})
