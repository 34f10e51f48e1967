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

const answerTo = (location: string | undefined) =>
  Object.fromEntries(new URL(location ?? '', 'http://one.test').searchParams)

describe('an authorization request', () => {
  test('goes to the page on which people sign in, and is carried along', async () => {
    const answer = await client.authorize({ prompt: 'login', login_hint: 'a@b.c', unknown: 'x' })
    expect(answer.status).toBe(303)
    const url = new URL(answer.headers['location'] ?? '', client.pool.issuer)
    expect(url.pathname).toBe(`${client.path}/login`)
    expect(Object.fromEntries(url.searchParams)).toEqual(
      Object.fromEntries(client.params({ prompt: 'login', login_hint: 'a@b.c' })),
    )
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' })
  })

  test('may come as a form', async () => {
    const answer = await stack.call('one.test', 'POST', `${client.path}/oauth2/authorize`, {
      body: client.params().toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer.status).toBe(303)
    expect(answer.headers['location']).toContain(`${client.path}/login?`)
  })

  test('ends at the client with a code, the state and the issuer', async () => {
    const { location } = await client.signIn(await client.user('vic@example.org'))
    expect(location.href.startsWith(`${client.redirectUri}?`)).toBe(true)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'st-1',
      iss: client.pool.issuer,
    })
  })

  test('without a state gets none back', async () => {
    const sub = await client.user('vic@example.org')
    const { location } = await client.signIn(sub, { changes: { state: undefined } })
    expect(location.searchParams.has('state')).toBe(false)
  })
})

/** No redirect: the browser stays, with a page that says why. */
const AT_HOME: readonly (readonly [string, () => Record<string, string | undefined>, string])[] = [
  ['no client', () => ({ client_id: undefined }), 'invalid_request'],
  ['an unknown client', () => ({ client_id: 'x'.repeat(26) }), 'invalid_client'],
  ['no redirect URI', () => ({ redirect_uri: undefined }), 'invalid_request'],
  ['a path that goes on', () => uri((url) => `${url}/more`), 'invalid_redirect_uri'],
  ['a path that begins so', () => uri((url) => `${url}x`), 'invalid_redirect_uri'],
  ['another case', () => uri((url) => url.replace('callback', 'Callback')), 'invalid_redirect_uri'],
  ['a host in another case', () => uri((url) => url.replace('one', 'ONE')), 'invalid_redirect_uri'],
  ['another port', () => uri((url) => url.replace(/:\d+/, ':1')), 'invalid_redirect_uri'],
  ['a fragment', () => uri((url) => `${url}#x`), 'invalid_redirect_uri'],
  ['userinfo', () => uri((url) => url.replace('://', '://me@')), 'invalid_redirect_uri'],
  [
    'a host behind it',
    () => uri((url) => url.replace('.test', '.test.evil.example')),
    'invalid_redirect_uri',
  ],
  [
    'our host as userinfo',
    () => uri((url) => `${new URL(url).origin}@evil.example/`),
    'invalid_redirect_uri',
  ],
  ['a trailing slash', () => uri((url) => `${url}/`), 'invalid_redirect_uri'],
  [
    'an encoded letter',
    () => uri((url) => url.replace('callback', '%63allback')),
    'invalid_redirect_uri',
  ],
  [
    'an encoded slash',
    () => uri((url) => url.replace('/auth/', '/auth%2F')),
    'invalid_redirect_uri',
  ],
  ['a way up', () => uri((url) => url.replace('/auth/', '/x/../auth/')), 'invalid_redirect_uri'],
  ['another scheme', () => uri((url) => url.replace('http:', 'https:')), 'invalid_redirect_uri'],
  ['a query', () => uri((url) => `${url}?next=evil`), 'invalid_redirect_uri'],
  ['a blank before', () => uri((url) => ` ${url}`), 'invalid_redirect_uri'],
  ['a script', () => uri(() => 'javascript:alert(1)'), 'invalid_redirect_uri'],
  ['a backslash', () => uri((url) => url.replace('://', ':\\\\')), 'invalid_redirect_uri'],
  [
    'the address of the other pool',
    () => uri((url) => url.replace('/auth/', '/admin/')),
    'invalid_redirect_uri',
  ],
  ['more than 8 KiB', () => ({ state: 'x'.repeat(8200) }), 'invalid_request'],
]
const uri = (change: (url: string) => string) => ({ redirect_uri: change(client.redirectUri) })

/** The client gets the error, at its own address. */
const THERE: readonly (readonly [string, Record<string, string | undefined>, string])[] = [
  ['no response type', { response_type: undefined }, 'invalid_request'],
  ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
  ['the hybrid flow', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['an unknown response type', { response_type: 'none' }, 'unsupported_response_type'],
  ['a fragment for the answer', { response_mode: 'fragment' }, 'unsupported_response_mode'],
  ['a form for the answer', { response_mode: 'form_post' }, 'unsupported_response_mode'],
  ['a request object', { request: 'a.b.c' }, 'request_not_supported'],
  ['a request URI', { request_uri: 'https://x.test' }, 'request_uri_not_supported'],
  ['a registration', { registration: '{}' }, 'registration_not_supported'],
  ['no challenge', { code_challenge: undefined }, 'invalid_request'],
  [
    'no challenge method, which means plain',
    { code_challenge_method: undefined },
    'invalid_request',
  ],
  ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['an unknown challenge method', { code_challenge_method: 's256' }, 'invalid_request'],
  ['a challenge that is too short', { code_challenge: 'x'.repeat(42) }, 'invalid_request'],
  ['a challenge that is no base64url', { code_challenge: `${'x'.repeat(42)}=` }, 'invalid_request'],
  ['an unknown prompt', { prompt: 'shout' }, 'invalid_request'],
  ['prompt none with another', { prompt: 'none login' }, 'invalid_request'],
  ['a negative max_age', { max_age: '-1' }, 'invalid_request'],
  ['a max_age that is no number', { max_age: 'soon' }, 'invalid_request'],
  ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
  ['a scope that is no list of words', { scope: 'openid "email"' }, 'invalid_scope'],
  ['a nonce without openid', { scope: 'email' }, 'invalid_request'],
  [
    'a max_age without openid',
    { scope: 'email', nonce: undefined, max_age: '1' },
    'invalid_request',
  ],
  ['a control character in the nonce', { nonce: 'a\u0000b' }, 'invalid_request'],
  ['a nonce that is too long', { nonce: 'x'.repeat(513) }, 'invalid_request'],
  ['a provider that is not set up', { identity_provider: 'Google' }, 'invalid_request'],
  ['an unknown provider', { identity_provider: 'Facebook' }, 'invalid_request'],
  ['an id token hint that is none', { id_token_hint: 'a.b.c' }, 'invalid_request'],
  ['no session when nothing may be asked', { prompt: 'none' }, 'login_required'],
  ['the same, said twice', { prompt: 'none none' }, 'login_required'],
]

describe('a wrong authorization request', () => {
  test.each(AT_HOME)('stays here: %s', async (_what, changes, error) => {
    const answer = await client.authorize(changes())
    expect(answer.status).toBe(400)
    expect(answer.headers['location']).toBeUndefined()
    expect(answer.headers['content-type']).toMatch(/^text\/html/)
    expect(answer.text).toContain(error)
  })

  test.each(THERE)('is reported to the client: %s', async (_what, changes, error) => {
    const answer = await client.authorize(changes)
    expect(answer.status).toBe(303)
    expect(answer.headers['location']?.startsWith(`${client.redirectUri}?`)).toBe(true)
    expect(answerTo(answer.headers['location'])).toEqual({
      error,
      error_description: expect.stringMatching(/\w/),
      state: 'st-1',
      iss: client.pool.issuer,
    })
  })

  test.each([
    ['scope', 303, /^http.*error=invalid_request.*&state=st-1&/],
    ['code_challenge', 303, /^http.*error=invalid_request.*&state=st-1&/],
    ['state', 303, /^http(?!.*state=).*error=invalid_request/],
    ['client_id', 400, /invalid_request/],
    ['redirect_uri', 400, /invalid_request/],
  ] as const)('has %s twice', async (name, status, said) => {
    const query = client.params()
    query.append(name, query.get(name) ?? '')
    const asForm = await stack.call('one.test', 'POST', `${client.path}/oauth2/authorize`, {
      body: query.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    for (const answer of [await client.get(`/oauth2/authorize?${query.toString()}`), asForm]) {
      expect(answer.status).toBe(status)
      expect(answer.headers['location'] ?? answer.text).toMatch(said)
    }
  })

  test('is one at another site’s pool, and at a pool that is not there', async () => {
    const other = await RelyingParty.of(stack, 'two.test')
    const there = await stack.call('one.test', 'GET', `${other.path}/oauth2/authorize`)
    expect(there.status).toBe(404)
    const query = client.params().toString()
    const foreign = await stack.call('two.test', 'GET', `${other.path}/oauth2/authorize?${query}`)
    expect(foreign.status).toBe(400)
    expect(foreign.text).toContain('invalid_client')
  })
})
