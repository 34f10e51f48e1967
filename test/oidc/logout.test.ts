import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Answer } from '#test/http-client.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let client: RelyingParty
let logoutUri: string
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
  logoutUri = client.logoutUri
})
afterAll(() => stack[Symbol.asyncDispose]())

const query = (fields: Record<string, string | undefined>) =>
  new URLSearchParams(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString()
const leave = (fields: Record<string, string | undefined>, cookie?: string) =>
  client.get(`/logout?${query(fields)}`, cookie)

async function isSignedIn(cookie: string): Promise<boolean> {
  const { headers } = await client.authorize({ prompt: 'none' }, cookie)
  return new URL(headers['location'] ?? '').searchParams.has('code')
}

describe('logging out', () => {
  test('in Cognito’s words ends session and tokens, and goes back to the client', async () => {
    const tokens = await client.tokens('vic@example.org')
    const own = { client_id: client.pool.clientId, logout_uri: logoutUri }
    const answer = await leave(own, tokens.cookie)
    expect(answer).toMatchObject({ status: 303, headers: { location: logoutUri } })
    expect(answer.headers['set-cookie']).toMatch(
      new RegExp(
        `^croft_session=; Path=${client.path}; HttpOnly; SameSite=Lax; Expires=Thu, 01 Jan 1970`,
      ),
    )
    expect(await isSignedIn(tokens.cookie)).toBe(false)
    expect(await client.isTaken(tokens.access_token)).toBe(false)
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400)
  })

  test('in Cognito’s words for another sign-in comes to the page that signs in', async () => {
    const tokens = await client.tokens('vic@example.org')
    const answer = await client.get(`/logout?${client.params().toString()}`, tokens.cookie)
    expect(answer.status).toBe(303)
    const url = new URL(answer.headers['location'] ?? '', client.pool.issuer)
    expect(url.pathname).toBe(`${client.path}/login`)
    expect(Object.fromEntries(url.searchParams)).toEqual(Object.fromEntries(client.params()))
    expect(await isSignedIn(tokens.cookie)).toBe(false)
    expect(await client.isTaken(tokens.access_token)).toBe(false)
    expect((await client.get(`/login?${url.searchParams.toString()}`)).status).toBe(200)
  })

  test('for another sign-in that cannot be asked for so tells the client', async () => {
    const { cookie } = await client.signIn(await client.user('vic@example.org'))
    const without = client.params({ code_challenge: undefined, code_challenge_method: undefined })
    const answer = await client.get(`/logout?${without.toString()}`, cookie)
    const location = new URL(answer.headers['location'] ?? '')
    expect(location.href.startsWith(`${client.redirectUri}?`)).toBe(true)
    expect(location.searchParams.get('error_description')).toContain('PKCE')
    expect(await isSignedIn(cookie)).toBe(false)
  })

  test('in OpenID Connect’s words gives the state back', async () => {
    const tokens = await client.tokens('vic@example.org')
    const fields = {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: logoutUri,
      state: 'a b&c',
    }
    const answer = await leave(fields, tokens.cookie)
    expect(answer.headers['location']).toBe(`${logoutUri}?state=a+b%26c`)
    expect(await isSignedIn(tokens.cookie)).toBe(false)
  })

  test('as a form of the client’s page works on the way back', async () => {
    const tokens = await client.tokens('vic@example.org')
    const body = query({ id_token_hint: tokens.id_token, post_logout_redirect_uri: logoutUri })
    const posted = await stack.call('one.test', 'POST', `${client.path}/logout`, {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(posted.status).toBe(303)
    const location = posted.headers['location'] ?? ''
    expect(location.startsWith(`${client.path}/logout?`)).toBe(true)
    const answer = await stack.call('one.test', 'GET', location, {
      headers: { cookie: tokens.cookie },
    })
    expect(answer).toMatchObject({ status: 303, headers: { location: logoutUri } })
    expect(await isSignedIn(tokens.cookie)).toBe(false)
  })

  test('leaves the session of another user than the client means', async () => {
    const mine = await client.tokens('mine@example.org')
    const other = await client.tokens('other@example.org')
    const fields = { id_token_hint: other.id_token, post_logout_redirect_uri: logoutUri }
    const page = await leave(fields, mine.cookie)
    expect(page).toMatchObject({
      status: 200,
      headers: { 'content-type': expect.stringMatching(/^text.html/) },
    })
    expect(page.headers['set-cookie']).not.toContain('croft_session')
    expect(await isSignedIn(mine.cookie)).toBe(true)
  })

  test('without a session, or twice, ends the same way', async () => {
    const own = { client_id: client.pool.clientId, logout_uri: logoutUri }
    expect(await leave(own)).toMatchObject({ status: 303, headers: { location: logoutUri } })
    const page = await leave({ client_id: client.pool.clientId })
    expect(page).toMatchObject({ status: 200 })
    expect(page.text).toContain('You are signed out')
  })

  test('that no client asked for asks the user', async () => {
    const tokens = await client.tokens('vic@example.org')
    const page = await leave({}, tokens.cookie)
    expect(page.status).toBe(200)
    expect(await isSignedIn(tokens.cookie)).toBe(true)
    const confirmed = await confirm(page, tokens.cookie)
    expect(confirmed.text).toContain('You are signed out')
    expect(await isSignedIn(tokens.cookie)).toBe(false)
  })

  test.each([
    ['no hint', async () => ({})],
    ['a hint that is none', async () => ({ id_token_hint: 'a.b.c' })],
    [
      'another user’s hint',
      async () => ({ id_token_hint: (await client.tokens('other@example.org')).id_token }),
    ],
  ])('in OpenID Connect’s words with %s asks the user, and then goes back', async (_what, hint) => {
    const tokens = await client.tokens('vic@example.org')
    const fields = {
      client_id: client.pool.clientId,
      post_logout_redirect_uri: logoutUri,
      state: 'a b&c',
      ...(await hint()),
    }
    const page = await leave(fields, tokens.cookie)
    expect(page.status).toBe(200)
    expect(page.headers['content-security-policy']).toContain(
      `form-action 'self' ${new URL(logoutUri).origin};`,
    )
    expect(await isSignedIn(tokens.cookie)).toBe(true)
    const confirmed = await confirm(page, tokens.cookie)
    expect(confirmed).toMatchObject({
      status: 303,
      headers: { location: `${logoutUri}?state=a+b%26c` },
    })
    expect(await isSignedIn(tokens.cookie)).toBe(false)
  })

  test('to which the user says yes goes nowhere that the client has not registered', async () => {
    const { cookie } = await client.signIn(await client.user('vic@example.org'))
    const page = await leave({}, cookie)
    const evil = { client_id: client.pool.clientId, post_logout_redirect_uri: 'https://e.example' }
    const answer = await confirm(page, cookie, `logout?${query(evil)}`)
    expect(answer.status).toBe(400)
    expect(answer.headers).not.toHaveProperty('location')
  })

  test.each([
    ['an address that is not registered', () => own('https://evil.example/')],
    ['an address that begins like ours', () => own(`${logoutUri}.evil.example`)],
    ['an address in another case', () => own(logoutUri.toUpperCase())],
    ['an address that goes on', () => own(`${logoutUri}x`)],
    ['a redirect URI of the sign-in', () => own(client.redirectUri)],
    ['an unknown client', () => ({ client_id: 'x'.repeat(26), logout_uri: logoutUri })],
    ['an address and no client', () => ({ logout_uri: logoutUri })],
    ['a hint that is none', () => ({ id_token_hint: 'a.b.c' })],
    ['two addresses', () => ({ ...own(logoutUri), post_logout_redirect_uri: logoutUri })],
    ['a state without end', () => ({ ...own(logoutUri), state: 'x'.repeat(2049) })],
    [
      'another sign-in at an address that is not registered',
      () => Object.fromEntries(client.params({ redirect_uri: 'https://evil.example/' })),
    ],
    [
      'another sign-in of an unknown client',
      () => Object.fromEntries(client.params({ client_id: 'x'.repeat(26) })),
    ],
  ])('with %s goes nowhere, and ends no session', async (_what, fields) => {
    const { cookie } = await client.signIn(await client.user('vic@example.org'))
    const answer = await leave(fields(), cookie)
    expect(answer.status).toBe(400)
    expect(answer.headers).not.toHaveProperty('location')
    expect(answer.headers['content-type']).toMatch(/^text\/html/)
    expect(await isSignedIn(cookie)).toBe(true)
  })

  test('asks under the same address, however that was written', async () => {
    const { cookie } = await client.signIn(await client.user('vic@example.org'))
    const page = await client.get('/logout/', cookie)
    expect(page.text).toContain(`action="${client.path}/logout"`)
    expect((await confirm(page, cookie)).text).toContain('You are signed out')
  })

  test('by a form of another site that is too long for an address is refused', async () => {
    const answer = await stack.call('one.test', 'POST', `${client.path}/logout`, {
      body: query({ state: 'ä'.repeat(3000) }),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer.status).toBe(400)
    expect(answer.headers).not.toHaveProperty('location')
  })

  test('with an id token of another site or pool as hint is refused', async () => {
    const admin = await stack.adminToken('one.test')
    const neighbour = await (await RelyingParty.of(stack, 'two.test')).tokens('vic@example.org')
    for (const hint of [admin, neighbour.id_token]) {
      const answer = await leave({ id_token_hint: hint, post_logout_redirect_uri: logoutUri })
      expect(answer.status).toBe(400)
    }
  })
})

/** Sends the form of a page, as the browser that it was shown in. */
function confirm(page: Answer, cookie: string, action?: string): Promise<Answer> {
  const csrf = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1]
  const form = /croft_form=[^;]+/.exec(page.headers['set-cookie'] ?? '')?.[0]
  const written = /action="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&#38;', '&')
  const path = action === undefined ? (written ?? '') : `${client.path}/${action}`
  return stack.call('one.test', 'POST', path, {
    body: query({ _csrf: csrf }),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: `${cookie}; ${form}`,
    },
  })
}

const own = (uri: string): Record<string, string> => ({
  client_id: client.pool.clientId,
  logout_uri: uri,
})
