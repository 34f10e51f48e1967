import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FakeGoogle } from '#test/fake-google.ts'
import {
  accountOf,
  answerOf,
  googleFor,
  lastEvent,
  setUpGoogle,
  walkToCallback,
  walkToGoogle,
} from '#test/google-sign-in.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'

let stack: Stack
let google: FakeGoogle
beforeAll(async () => {
  stack = await startStack()
  google = await googleFor(stack, [HOST])
})
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

describe('the answer of Google', () => {
  const refused = { status: 410, text: expect.stringContaining('begin again') }

  test('that says no goes back to the client as access_denied', async () => {
    google.person = undefined
    const walk = await walkToGoogle(stack, HOST)
    expect(answerOf(walk)).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: walk.client.state,
      iss: walk.client.issuer,
    })
    expect(await lastEvent(stack, 'provider.refused')).toMatchObject({
      client_id: walk.client.clientId,
    })
  })

  test('is refused in another browser, and still good in the right one', async () => {
    google.person = { subject: 'g-mia', email: 'mia@example.test' }
    const browser = new WalkingBrowser()
    const { url, client } = await walkToCallback(stack, HOST, browser)
    const stranger = new WalkingBrowser()
    expect((await stranger.open(url.href)).answer).toMatchObject(refused)
    expect(stranger.cookie('croft_session')).toBeUndefined()
    await walkToCallback(stack, HOST, stranger)
    expect((await stranger.open(url.href)).answer).toMatchObject(refused)
    const walk = await browser.open(url.href)
    expect(await accountOf(stack, { ...walk, client })).toMatchObject({ email: 'mia@example.test' })
  })

  test('is refused to a browser that has the right cookie with another value', async () => {
    const browser = new WalkingBrowser()
    const { url, client } = await walkToCallback(stack, HOST, browser)
    const name = `croft_visit_${createHash('sha256')
      .update(url.searchParams.get('state') ?? '')
      .digest('hex')
      .slice(0, 16)}`
    const stranger = new WalkingBrowser()
    const { pathname } = new URL(client.issuer)
    stranger.keep(url, `${name}=${'A'.repeat(43)}; Path=${pathname}`)
    expect((await stranger.open(url.href)).answer).toMatchObject(refused)
    expect(answerOf(await browser.open(url.href))).toHaveProperty('code')
  })

  test('is good once', async () => {
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    const cookie = browser.cookie('croft_visit') ?? ''
    expect(cookie).toMatch(/^[\w-]{43}$/)
    expect(answerOf(await browser.open(url.href))).toHaveProperty('code')
    expect(browser.cookie('croft_visit')).toBeUndefined()
    expect((await browser.open(url.href)).answer).toMatchObject(refused)
  })

  test('is good once even when it comes twice at the same moment', async () => {
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    const ends = await Promise.all([1, 2, 3, 4].map(() => browser.open(url.href)))
    expect(ends.filter((end) => end.url.pathname === '/auth/callback')).toHaveLength(1)
    expect(ends.filter(({ answer }) => answer.status === 410)).toHaveLength(3)
  })

  test('is too late after ten minutes', async () => {
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    const later = { now: () => new Date(Date.now() + 10 * 60_000 + 1_000) }
    await using replica = await startStack({ beside: stack, platform: { clock: later } })
    browser.ports.set(String(stack.port), String(replica.port))
    expect((await browser.open(url.href)).answer).toMatchObject(refused)
  })

  test.each<[string, (params: URLSearchParams) => void]>([
    ['without a state', (params) => params.delete('state')],
    ['with an unknown state', (params) => params.set('state', 'A'.repeat(43))],
    ['with a state twice', (params) => params.append('state', params.get('state') ?? '')],
    ['with a code twice', (params) => params.append('code', 'other')],
    ['with an endless state', (params) => params.set('state', 'A'.repeat(5000))],
    ['with a state and a NUL', (params) => params.set('state', `${params.get('state')}\0`)],
  ])('is refused %s', async (_what, change) => {
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    const right = url.href
    change(url.searchParams)
    expect((await browser.open(url.href)).answer).toMatchObject(refused)
    expect(answerOf(await browser.open(right))).toHaveProperty('code')
  })

  test.each<[string, (params: URLSearchParams) => void]>([
    ['of another issuer', (params) => params.set('iss', 'https://accounts.google.com')],
    ['of an issuer with the same prefix', (params) => params.set('iss', `${google.issuer}/`)],
    ['without the issuer that it always names', (params) => params.delete('iss')],
    ['without a code', (params) => params.delete('code')],
    ['with an unknown code', (params) => params.set('code', 'made-up')],
    ['with an endless code', (params) => params.set('code', 'A'.repeat(5000))],
  ])('that comes %s ends with an error at the client', async (_what, change) => {
    const browser = new WalkingBrowser()
    const { url, client } = await walkToCallback(stack, HOST, browser)
    change(url.searchParams)
    const walk = await browser.open(url.href)
    expect(answerOf(walk)).toMatchObject({ error: 'server_error', state: client.state })
    expect(browser.cookie('croft_session')).toBeUndefined()
  })

  test('of another issuer does not become an access_denied', async () => {
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    url.searchParams.set('error', 'access_denied')
    url.searchParams.set('iss', 'https://evil.test')
    expect(answerOf(await browser.open(url.href))).toMatchObject({ error: 'server_error' })
  })

  test('cannot put words of its own into ours', async () => {
    const browser = new WalkingBrowser()
    const { url } = await walkToCallback(stack, HOST, browser)
    url.searchParams.set('error', '"><script>x')
    url.searchParams.set('error_description', 'call 0900 123')
    const answer = answerOf(await browser.open(url.href))
    expect(answer).toMatchObject({ error: 'server_error' })
    expect(answer['error_description']).not.toMatch(/[<>]|0900/)
  })

  test('is refused when the provider was switched off or replaced since', async () => {
    const browser = new WalkingBrowser()
    const { url: first } = await walkToCallback(stack, HOST, browser)
    await stack.portal('PUT', `/sites/${HOST}/auth/providers/google`, { enabled: false })
    expect(answerOf(await browser.open(first.href))).toMatchObject({ error: expect.any(String) })
    await setUpGoogle(stack, HOST, google.issuer)
    const { url: second } = await walkToCallback(stack, HOST, browser)
    await stack.portal('PUT', `/sites/${HOST}/auth/providers/google`, {
      clientId: 'another',
      clientSecret: 's',
    })
    expect(answerOf(await browser.open(second.href))).toMatchObject({ error: 'server_error' })
    await setUpGoogle(stack, HOST, google.issuer)
    expect(browser.cookie('croft_session')).toBeUndefined()
  })
})
