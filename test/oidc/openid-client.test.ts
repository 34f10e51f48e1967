import {
  type CustomFetchOptions,
  ResponseBodyError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
})
afterAll(() => stack[Symbol.asyncDispose]())

/** The name in the URL goes into the Host header, as DNS would have it. */
async function fetchByHost(url: string, options: CustomFetchOptions): Promise<Response> {
  const { hostname, pathname, search } = new URL(url)
  const { status, headers, bytes } = await stack.call(hostname, options.method, pathname + search, {
    headers: options.headers,
    ...(options.body ? { body: await new Response(options.body).text() } : {}),
  })
  return new Response(bytes.length > 0 ? new Uint8Array(bytes) : null, { status, headers })
}

const clientOf = async (party: RelyingParty) => {
  const issuer = new URL(party.pool.issuer)
  return discovery(issuer, party.pool.clientId, undefined, None(), {
    execute: [allowInsecureRequests],
    [customFetch]: fetchByHost,
  })
}

/** What its application does; the user's part is done by whoever has the cookie. */
async function signIn(
  party: RelyingParty,
  config: Awaited<ReturnType<typeof clientOf>>,
  cookie: string,
) {
  const [pkceCodeVerifier, expectedState, expectedNonce] = [
    randomPKCECodeVerifier(),
    randomState(),
    randomNonce(),
  ]
  const url = buildAuthorizationUrl(config, {
    redirect_uri: party.redirectUri,
    scope: 'openid email profile',
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  })
  const answer = await stack.call(party.host, 'GET', url.pathname + url.search, {
    headers: { cookie },
  })
  const location = new URL(answer.headers['location'] ?? '')
  const checks = {
    pkceCodeVerifier,
    expectedState,
    expectedNonce,
    idTokenExpected: true,
    maxAge: 3600,
  }
  return { location, checks, tokens: await authorizationCodeGrant(config, location, checks) }
}

describe.each(['one.test', 'two.test'])('openid-client on %s', (host) => {
  test.each(['data', 'admin'] as const)('signs in to the %s pool, and out again', async (kind) => {
    const party = await RelyingParty.of(stack, host, kind)
    const config = await clientOf(party)
    const email = kind === 'data' ? 'vic@example.org' : `ann@${host}`
    const { cookie } = await party.signIn(await party.user(email))

    const { tokens, location, checks } = await signIn(party, config, cookie)
    const sub = await party.user(email)
    const refreshToken = String(tokens.refresh_token)
    expect(tokens.claims()).toMatchObject({ sub, email, email_verified: kind === 'data' })
    expect(await party.isTaken(tokens.access_token)).toBe(true)
    const user = await fetchUserInfo(config, tokens.access_token, sub)
    expect(user).toMatchObject({ email })

    const renewed = await refreshTokenGrant(config, refreshToken)
    expect(await party.isTaken(renewed.access_token)).toBe(true)
    const last = String(renewed.refresh_token)
    await tokenRevocation(config, last)
    await expect(refreshTokenGrant(config, last)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
    const late = fetchUserInfo(config, renewed.access_token, sub)
    await expect(late).rejects.toMatchObject({ code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' })
    const replay = authorizationCodeGrant(config, location, checks)
    await expect(replay).rejects.toThrow(ResponseBodyError)

    const leaving = buildEndSessionUrl(config, {
      id_token_hint: String(tokens.id_token),
      post_logout_redirect_uri: party.logoutUri,
    })
    const left = await stack.call(host, 'GET', leaving.pathname + leaving.search, {
      headers: { cookie },
    })
    expect(left.headers['location']).toBe(party.logoutUri)
    const after = await party.authorize({ prompt: 'none' }, cookie)
    expect(after.headers['location']).toContain('login_required')
  })

  test('takes no answer that another issuer gave', async () => {
    const [party, other] = [
      await RelyingParty.of(stack, host),
      await RelyingParty.of(stack, host, 'admin'),
    ]
    const config = await clientOf(party)
    const { location } = await other.signIn(await other.user(`ann@${host}`))
    const mixedUp = authorizationCodeGrant(config, location, { expectedState: 'st-1' })
    await expect(mixedUp).rejects.toMatchObject({
      cause: { message: expect.stringContaining('"iss"') },
    })
  })
})
