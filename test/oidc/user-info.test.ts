import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const withScope = async (scope: string) => {
  const { code } = await client.signIn(await client.user('vic@example.org'), {
    changes: { scope, nonce: undefined },
  })
  return (await client.exchange(code)).json.access_token
}

describe('the claims of an access token about its user', () => {
  test.each([
    ['openid', {}],
    ['openid email', { email: 'vic@example.org', email_verified: true }],
    ['openid profile', { username: 'vic@example.org' }],
  ])('is, with the scope %s, no more than that', async (scope, more) => {
    const answer = await client.userInfo(await withScope(scope))
    const sub = await client.user('vic@example.org')
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
    expect(answer.json).toEqual({ sub, ...more })
  })

  test('may be asked for by POST, from any origin', async () => {
    const token = await withScope('openid')
    const answer = await stack.call('one.test', 'POST', `${client.path}/oauth2/userInfo`, {
      token,
      headers: { origin: 'https://app.example' },
    })
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } })
  })

  test('may be asked for with the token in a form', async () => {
    const answer = await client.post('userInfo', { access_token: await withScope('openid') })
    expect(answer).toMatchObject({ status: 200, json: { sub: expect.any(String) } })
    expect(await client.post('userInfo', { other: 'x' })).toMatchObject({ status: 401, text: '' })
  })

  test.each([
    ['in the URL', (t: string) => ({ query: `?access_token=${t}` })],
    ['in the URL and in the header', (t: string) => ({ query: `?access_token=${t}`, token: t })],
    ['in a form and in the header', (t: string) => ({ body: `access_token=${t}`, token: t })],
    ['in a form, twice', (t: string) => ({ body: `access_token=${t}&access_token=${t}` })],
  ] as const)('is nothing to a token %s', async (_what, request) => {
    const sent: { query?: string; body?: string; token?: string } = request(
      await withScope('openid'),
    )
    const path = `${client.path}/oauth2/userInfo${sent.query ?? ''}`
    const answer = await stack.call('one.test', 'body' in sent ? 'POST' : 'GET', path, {
      body: sent.body,
      token: sent.token,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_request"')
  })

  test('is nothing without the scope openid', async () => {
    const answer = await client.userInfo(await withScope('email'))
    expect(answer).toMatchObject({ status: 403, json: { error: 'insufficient_scope' } })
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer error="insufficient_scope".*scope="openid"$/,
    )
  })

  test('is nothing to a request without a token, which gets no error code', async () => {
    for (const headers of [{}, { authorization: 'Basic eDp5' }]) {
      const answer = await stack.call('one.test', 'GET', `${client.path}/oauth2/userInfo`, {
        headers,
      })
      expect(answer).toMatchObject({ status: 401, text: '' })
      expect(answer.headers['www-authenticate']).toBe('Bearer scope="openid"')
    }
  })

  test.each([
    ['an id token', async () => (await client.tokens('vic@example.org')).id_token ?? ''],
    ['a refresh token', async () => (await client.tokens('vic@example.org')).refresh_token],
    ['a token of another site', () => tokenOf('two.test', 'data')],
    ['a token of the other pool', () => stack.adminToken('one.test')],
    ['a word', async () => 'letmein'],
    ['a revoked token', revoked],
  ])('is nothing to %s', async (_what, tokenFor) => {
    const answer = await client.userInfo(await tokenFor())
    expect(answer).toMatchObject({ status: 401, json: { error: 'invalid_token' } })
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/)
  })
})

async function tokenOf(host: string, kind: 'data'): Promise<string> {
  const other = await RelyingParty.of(stack, host, kind)
  return (await other.tokens('vic@example.org')).access_token
}

async function revoked(): Promise<string> {
  const tokens = await client.tokens('vic@example.org')
  await client.revoke(tokens.refresh_token)
  return tokens.access_token
}
