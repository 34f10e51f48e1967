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
import { signedInBrowser } from '#test/signed-in-browser.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import type { WalkingBrowser } from '#test/walking-browser.ts'

/** Its visitors sign in on a name of its own from the start. */
const OWN = 'own.test'
/** There they sign in on another name once the program is in use. */
const MOVING = 'moving.test'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test', 'two.test', MOVING] })
  const own = { domain: OWN, authDomain: `auth.${OWN}`, superAdmins: [`ann@${OWN}`] }
  await stack.portal('POST', '/sites', own)
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

/** What its application does, and the browser of its user. */
async function signIn(
  party: RelyingParty,
  config: Awaited<ReturnType<typeof clientOf>>,
  browser: WalkingBrowser,
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
  const { url: location } = await browser.open(url.href)
  const checks = {
    pkceCodeVerifier,
    expectedState,
    expectedNonce,
    idTokenExpected: true,
    maxAge: 3600,
  }
  return { location, checks, tokens: await authorizationCodeGrant(config, location, checks) }
}

const SITES = ['one.test', 'two.test', OWN, MOVING]

describe.each(SITES)('openid-client on %s', (host) => {
  test.each(['data', 'admin'] as const)('signs in to the %s pool, and out again', async (kind) => {
    const party = await RelyingParty.of(stack, host, kind)
    const config = await clientOf(party)
    const email = kind === 'data' ? 'vic@example.org' : `ann@${host}`
    if (host === MOVING && kind === 'data') await moveWith(party, config, email)
    const browser = await signedInBrowser(party, email)

    const { tokens, location, checks } = await signIn(party, config, browser)
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
    const left = await browser.open(leaving.href, ({ href }) => href === party.logoutUri)
    expect(left.url.href).toBe(party.logoutUri)
    const silent = `${party.pool.issuer}/oauth2/authorize?${party.params({ prompt: 'none' }).toString()}`
    const after = await browser.open(silent)
    expect(after.url.searchParams.get('error')).toBe('login_required')
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

/** The program is in use when the sign-in moves: what it holds goes on, and it goes on asking the issuer that it knows. */
async function moveWith(
  party: RelyingParty,
  config: Awaited<ReturnType<typeof clientOf>>,
  email: string,
): Promise<void> {
  const { tokens } = await signIn(party, config, await signedInBrowser(party, email))
  const moved = await stack.portal('PATCH', `/sites/${MOVING}`, { authDomain: `auth.${MOVING}` })
  expect(moved.json).toMatchObject({ formerAuthDomains: [MOVING] })
  expect(await party.isTaken(tokens.access_token)).toBe(true)
  const sub = tokens.claims()?.sub ?? ''
  expect(await fetchUserInfo(config, tokens.access_token, sub)).toMatchObject({ email })
  const renewed = await refreshTokenGrant(config, String(tokens.refresh_token))
  expect(renewed.claims()).toMatchObject({ iss: party.pool.issuer, sub })
  expect(await party.isTaken(renewed.access_token)).toBe(true)
  // One that discovers again finds the same issuer.
  expect((await clientOf(party)).serverMetadata()).toEqual(config.serverMetadata())
}
