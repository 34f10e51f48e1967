import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser } from '#test/form-browser.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'

let first: Stack
let second: Stack
let client: RelyingParty
beforeAll(async () => {
  first = await startStack({ sites: ['one.test'] })
  second = await startStack({ beside: first })
  client = await RelyingParty.of(first, 'one.test')
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

describe('a sign-up whose every step meets another replica', () => {
  test('loses nothing, up to the tokens', async () => {
    const visitor = new FormBrowser(first, 'one.test')
    const signUp = await visitor.get(client.page('signup'))
    visitor.stack = second
    const sent = await visitor.submit(signUp, { username: 'far@example.test', password: PASSWORD })
    visitor.stack = first
    const page = await visitor.get(sent.headers['location'] ?? '')
    expect(page.status).toBe(200)
    const code = codeIn(await mailTo(first, 'far@example.test', 'verification'))
    visitor.stack = second
    const confirmed = await visitor.submit(page, { code })
    const callback = new URL(confirmed.headers['location'] ?? '')
    const exchanged = await client.exchange(callback.searchParams.get('code') ?? '')
    expect(exchanged.status).toBe(200)
    visitor.stack = first
    const again = await visitor.get(client.page('oauth2/authorize'))
    expect(again.headers['location']).toContain(`${client.redirectUri}?`)
  })
})

describe('a sign-in in the middle of which the service restarts', () => {
  test('goes on', async () => {
    const sub = await client.user('patient@example.test')
    const origin = { address: '192.0.2.1', userAgent: 'test', requestId: 'test' }
    const account = { sub, password: PASSWORD }
    await first.context.ownPasswords.add({ site: client.site, pool: client.pool, origin }, account)
    const before = await startStack({ beside: first })
    const visitor = new FormBrowser(before, 'one.test')
    const login = await visitor.get(client.page('login'))
    await before[Symbol.asyncDispose]()
    visitor.stack = second
    const fields = { username: 'patient@example.test', password: PASSWORD }
    const answer = await visitor.submit(login, fields)
    expect(answer.headers['location']).toContain(`${client.redirectUri}?`)
  })
})
