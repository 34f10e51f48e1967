import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** What a function learns of its caller. */
const WHO = `export default {
  fetch: (request) => new Response(request.headers.get('x-forwarded-for')),
}`

let stack: Stack
let behind: Stack
beforeAll(async () => {
  stack = await startStack()
  const config = { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] }
  behind = await startStack({ beside: stack, config })
  for (const host of ['one.test', 'two.test']) {
    const site = await RuntimeSite.open(stack, host)
    await site.publish('who', WHO, { http: true })
    await site.synced()
  }
})
afterAll(async () => {
  await behind[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const seenBy = async (front: Stack, host: string, headers: Readonly<Record<string, string>>) =>
  (await front.call(host, 'GET', '/data/public/who', { headers })).text

describe('who comes through a trusted proxy', () => {
  test.each<[Readonly<Record<string, string>>, string]>([
    [{ 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
    [{ 'x-forwarded-for': '203.0.113.9:1001' }, '203.0.113.9'],
    [{ 'x-forwarded-for': '203.0.113.9:1002, 10.0.0.2:80' }, '203.0.113.9'],
    [{ 'x-forwarded-for': '[2001:db8::1]:443' }, '2001:db8::1'],
    [{ 'x-forwarded-for': '8.8.8.8, 203.0.113.9' }, '203.0.113.9'],
    [{ 'x-forwarded-for': 'guess-1' }, '127.0.0.1'],
    [{ 'x-forwarded-for': '203.0.113.9, guess-2' }, '127.0.0.1'],
    [{ forwarded: 'for="[2001:db8::1]:443";proto=https' }, '2001:db8::1'],
    [{ forwarded: 'for=8.8.8.8, for=203.0.113.9' }, '203.0.113.9'],
    [{ forwarded: 'for=unknown' }, '127.0.0.1'],
    [{ forwarded: 'for=8.8.8.8', 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ])('with %j', async (headers, address) => {
    expect(await seenBy(behind, 'one.test', headers)).toBe(address)
  })

  test('with two hosts is at the one that the nearest proxy names', async () => {
    for (const headers of [
      { 'x-forwarded-host': 'nobody.test, two.test' },
      { forwarded: 'for=203.0.113.9;host=nobody.test, for=203.0.113.9;host=two.test' },
    ]) {
      const answer = await behind.call('one.test', 'GET', '/admin/public/config', { headers })
      expect(answer.json).toMatchObject({ siteDomain: 'two.test' })
    }
  })
})

test('no other address is believed', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9;host=two.test' }
  expect(await seenBy(stack, 'one.test', headers)).toBe('127.0.0.1')
  const answer = await stack.call('one.test', 'GET', '/admin/public/config', { headers })
  expect(answer.json).toMatchObject({ siteDomain: 'one.test' })
})
