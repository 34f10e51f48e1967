import { base64url } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { BYE, OpenIdSuite } from '#test/openid-suite.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)
const later = (seconds: number): void => {
  aheadMs += seconds * 1000
}

/**
 * The modules of the OpenID Foundation's certification plans for providers, by its names and what each demands: a client with a
 * secret that its operator registered (`static_client`, `discovery`), the response type `code`.
 */
describe.each([
  ['one.test, over plain HTTP', 'one.test', undefined],
  ['two.test, over TLS behind a proxy', 'two.test', 'https://croft.test'],
] as const)('the OpenID plans at %s', (_where, host, baseUrl) => {
  let stack: Stack
  let suite: OpenIdSuite
  beforeAll(async () => {
    stack = await startStack({
      platform: { clock: { now } },
      ...(baseUrl !== undefined && { config: { baseUrl } }),
    })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    suite = await OpenIdSuite.open(stack, host, now)
  })
  afterAll(() => stack[Symbol.asyncDispose]())
  beforeEach(() => suite.newBrowser())

  const issuer = () => suite.metadata.issuer

  describe('oidcc-basic-certification-test-plan', () => {
    test('oidcc-server', async () => {
      const { callback, answer, tokens, claims } = await suite.signIn({ nonce: 'n-0S6_WzA2Mj' })
      expect(callback?.get('state')).toBe('st-1')
      expect(callback?.get('iss')).toBe(issuer())
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
      expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) })
      expect(claims).toMatchObject({
        sub: suite.owner.sub,
        aud: suite.client.clientId,
        nonce: 'n-0S6_WzA2Mj',
      })
      const { json } = await suite.userInfo(tokens.access_token)
      expect(json.sub).toBe(claims.sub)
    })

    test('oidcc-response-type-missing', async () => {
      const { callback } = await suite.authorize({ response_type: undefined })
      expect(callback?.get('error')).toBe('invalid_request')
      expect(callback?.get('state')).toBe('st-1')
      expect(callback?.has('code')).toBe(false)
    })

    test('oidcc-idtoken-signature', async () => {
      const { tokens } = await suite.signIn()
      const [header = '', payload = '', signature = ''] = String(tokens.id_token).split('.')
      const changed = `${header}.${payload}.${Buffer.from(signature).reverse().toString()}`
      await expect(suite.claims(changed)).rejects.toMatchObject({
        code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      })
    })

    test('oidcc-idtoken-unsigned: not offered, and not announced', () => {
      expect(suite.metadata['id_token_signing_alg_values_supported']).toEqual(['RS256'])
      expect(suite.metadata).not.toHaveProperty('registration_endpoint')
    })

    test.each([
      ['oidcc-userinfo-get', 'get'],
      ['oidcc-userinfo-post-header', 'post-header'],
      ['oidcc-userinfo-post-body', 'post-body'],
    ] as const)('%s', async (_module, way) => {
      const { tokens, claims } = await suite.signIn()
      const answer = await suite.userInfo(tokens.access_token, way)
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toContain('application/json')
      expect(answer.json.sub).toBe(claims.sub)
    })

    test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
      const { claims } = await suite.signIn({ nonce: undefined })
      expect(claims).not.toHaveProperty('nonce')
    })

    test.each([
      ['oidcc-scope-profile', 'openid profile', ['sub', 'username']],
      ['oidcc-scope-email', 'openid email', ['email', 'email_verified', 'sub']],
      ['oidcc-scope-address: not offered', 'openid address', ['sub']],
      ['oidcc-scope-phone: not offered', 'openid phone', ['sub']],
      [
        'oidcc-scope-all',
        'openid profile email address phone',
        ['email', 'email_verified', 'sub', 'username'],
      ],
      [
        'oidcc-alternate-happy-flow (oidcc-ensure-other-scope-order-succeeds)',
        'email openid',
        ['email', 'email_verified', 'sub'],
      ],
    ])('%s', async (_module, scope, names) => {
      const { tokens } = await suite.signIn({ scope })
      const { status, json } = await suite.userInfo(tokens.access_token)
      expect(status).toBe(200)
      expect(Object.keys(json).toSorted()).toEqual(names)
      const offered = suite.metadata['scopes_supported']
      expect(offered).toEqual(['openid', 'email', 'profile'])
    })

    test.each([
      ['oidcc-display-page', { display: 'page' }],
      ['oidcc-display-popup', { display: 'popup' }],
      ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
      ['oidcc-ui-locales', { ui_locales: 'se' }],
      ['oidcc-claims-locales', { claims_locales: 'se' }],
      ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
      [
        'oidcc-claims-essential',
        { claims: JSON.stringify({ userinfo: { name: { essential: true } } }) },
      ],
    ])('%s', async (_module, changes) => {
      const { callback, claims } = await suite.signIn(changes)
      expect(callback?.get('state')).toBe('st-1')
      expect(claims.sub).toBe(suite.owner.sub)
    })

    test('oidcc-prompt-login', async () => {
      const first = await suite.signIn()
      later(2)
      const again = await suite.signIn({ prompt: 'login' })
      expect([first.asked, again.asked]).toEqual([true, true])
      expect(again.claims.sub).toBe(first.claims.sub)
      expect(Number(again.claims['auth_time'])).toBeGreaterThan(Number(first.claims['auth_time']))
    })

    test('oidcc-prompt-none-not-logged-in', async () => {
      const { callback, asked } = await suite.authorize({ prompt: 'none' })
      expect(asked).toBe(false)
      expect(callback?.get('error')).toBe('login_required')
      expect(callback?.get('state')).toBe('st-1')
    })

    test('oidcc-prompt-none-logged-in', async () => {
      const first = await suite.signIn()
      later(2)
      const again = await suite.signIn({ prompt: 'none' })
      expect(again.asked).toBe(false)
      expect(again.claims.sub).toBe(first.claims.sub)
      expect(again.claims['auth_time']).toBe(first.claims['auth_time'])
    })

    test('oidcc-max-age-1', async () => {
      const first = await suite.signIn()
      later(2)
      const again = await suite.signIn({ max_age: '1' })
      expect(again.asked).toBe(true)
      const authTime = Number(again.claims['auth_time'])
      expect(authTime).toBeGreaterThan(Number(first.claims['auth_time']))
      expect(authTime).toBeLessThanOrEqual(now().getTime() / 1000)
    })

    test('oidcc-max-age-10000', async () => {
      const first = await suite.signIn()
      later(2)
      const again = await suite.signIn({ max_age: '10000' })
      expect(again.asked).toBe(false)
      expect(again.claims['auth_time']).toBe(first.claims['auth_time'])
    })

    test('oidcc-id-token-hint', async () => {
      const first = await suite.signIn()
      const hint = { prompt: 'none', id_token_hint: String(first.tokens.id_token) }
      const again = await suite.signIn(hint)
      expect(again.asked).toBe(false)
      expect(again.claims.sub).toBe(first.claims.sub)
    })

    test('oidcc-login-hint', async () => {
      const path = new URL(suite.metadata.authorization_endpoint).pathname
      const query = suite.request({ login_hint: 'buffy@example.com' }).toString()
      const { headers } = await suite.browser.get(`${path}?${query}`)
      const page = await suite.browser.get(String(headers['location']))
      expect(page.text).toMatch(/name="username"[^>]* value="buffy@example.com"/)
    })

    test('oidcc-codereuse', async () => {
      const { code } = await suite.signIn()
      const again = await suite.client.exchange(code)
      expect(again).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    })

    test('oidcc-codereuse-30seconds', async () => {
      const { code, tokens } = await suite.signIn()
      expect((await suite.userInfo(tokens.access_token)).status).toBe(200)
      later(30)
      const again = await suite.client.exchange(code)
      expect(again).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
      expect((await suite.userInfo(tokens.access_token)).status).toBe(401)
    })

    test('oidcc-ensure-registered-redirect-uri', async () => {
      const redirectUri = `${suite.request().get('redirect_uri')}/unregistered`
      const { callback, page } = await suite.authorize({ redirect_uri: redirectUri })
      expect(callback).toBeUndefined()
      expect(page.status).toBe(400)
      expect(page.text).toContain('redirect_uri is not one that the client has registered')
    })

    test('oidcc-ensure-post-request-succeeds', async () => {
      const { callback, asked } = await suite.authorize({}, 'POST')
      expect(asked).toBe(true)
      expect((await suite.client.exchange(callback?.get('code') ?? '')).status).toBe(200)
    })

    test('oidcc-server-client-secret-post', async () => {
      const { claims } = await suite.signIn({}, suite.client.post())
      expect(claims.aud).toBe(suite.client.clientId)
    })

    const requestObject = `${base64url.encode('{"alg":"none"}')}.${base64url.encode('{}')}.`
    test.each([
      [
        'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
        { request_uri: 'https://helpdesk.example/request.jwt' },
        'request_uri_not_supported',
      ],
      [
        'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
        { request: requestObject },
        'request_not_supported',
      ],
      [
        'oidcc-ensure-request-object-with-redirect-uri',
        { request: requestObject },
        'request_not_supported',
      ],
    ])('%s', async (_module, changes, error) => {
      const { callback } = await suite.authorize(changes)
      expect(callback?.get('error')).toBe(error)
      expect(callback?.get('state')).toBe('st-1')
      expect(suite.metadata).toMatchObject({
        request_parameter_supported: false,
        request_uri_parameter_supported: false,
      })
    })

    test('oidcc-refresh-token', async () => {
      const { tokens, claims } = await suite.signIn()
      const stolen = await suite.other.refresh(tokens.refresh_token)
      expect(stolen).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
      later(2)
      const { status, json } = await suite.client.refresh(tokens.refresh_token)
      expect(status).toBe(200)
      const renewed = await suite.claims(json.id_token)
      expect(renewed).toMatchObject({
        iss: claims.iss,
        sub: claims.sub,
        aud: claims.aud,
        auth_time: claims['auth_time'],
      })
      expect(Number(renewed.iat)).toBeGreaterThan(Number(claims.iat))
      expect((await suite.userInfo(json.access_token)).status).toBe(200)
    })

    test('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
      const pkce = suite.client.party.params()
      const { callback } = await suite.authorize({
        code_challenge: pkce.get('code_challenge') ?? '',
        code_challenge_method: 'S256',
      })
      const code = callback?.get('code') ?? ''
      const proof = suite.client.basic()
      const answer = await suite.client.exchange(code, proof, {
        code_verifier: suite.client.party.verifier,
      })
      expect(answer.status).toBe(200)
    })
  })

  test('oidcc-config-certification-test-plan: oidcc-discovery-endpoint-verification', async () => {
    const { metadata } = suite
    const address = `${metadata.issuer}/.well-known/openid-configuration`
    const answer = await stack.call(host, 'GET', new URL(address).pathname)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(metadata).toMatchObject({
      issuer: expect.stringMatching(/^https?:\/\/[^?#]+[^/]$/),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
      grant_types_supported: expect.arrayContaining(['authorization_code']),
      scopes_supported: expect.arrayContaining(['openid']),
      claims_supported: expect.arrayContaining(['sub', 'iss', 'auth_time', 'email']),
      code_challenge_methods_supported: ['S256'],
      claims_parameter_supported: false,
    })
    const origin = new URL(metadata.issuer).origin
    const endpoints = Object.entries(metadata).filter(([name]) => /_(?:endpoint|uri)$/.test(name))
    expect(endpoints).toHaveLength(6)
    // They are https wherever the site is.
    for (const [name, url] of endpoints) expect(new URL(String(url)).origin, name).toBe(origin)
    expect(origin.startsWith('https:')).toBe(baseUrl !== undefined)
    const { keys } = (await stack.call(host, 'GET', new URL(metadata.jwks_uri).pathname)).json
    for (const key of keys) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    }
    const kids = keys.map(({ kid }: { kid: string }) => kid)
    expect(new Set(kids).size).toBe(kids.length)
  })

  describe('oidcc-rp-initiated-logout-certification-test-plan', () => {
    const hintOf = async () => {
      const { tokens } = await suite.signIn()
      return String(tokens.id_token)
    }

    test('oidcc-rp-initiated-logout-discovery-endpoint-verification', () => {
      expect(suite.metadata.end_session_endpoint).toBe(`${issuer()}/logout`)
    })

    test('oidcc-rp-initiated-logout', async () => {
      const hint = { id_token_hint: await hintOf(), state: 's-1' }
      const answer = await suite.signOut({ ...hint, post_logout_redirect_uri: BYE })
      expect(answer.headers['location']).toBe(`${BYE}?state=s-1`)
      expect(await suite.isSignedIn()).toBe(false)
    })

    test('oidcc-rp-initiated-logout-no-state', async () => {
      const hint = { id_token_hint: await hintOf() }
      const answer = await suite.signOut({ ...hint, post_logout_redirect_uri: BYE })
      expect(answer.headers['location']).toBe(BYE)
      expect(await suite.isSignedIn()).toBe(false)
    })

    test.each([
      ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', `${BYE}/other`],
      ['oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', `${BYE}?extra=1`],
    ])('%s', async (_module, target) => {
      const hint = { id_token_hint: await hintOf(), state: 's-1' }
      const answer = await suite.signOut({ ...hint, post_logout_redirect_uri: target })
      expect(answer.status).toBe(400)
      expect(answer.headers['location']).toBeUndefined()
      expect(answer.text).toContain('not one that the client has registered')
      expect(await suite.isSignedIn()).toBe(true)
    })

    test.each([
      [
        'oidcc-rp-initiated-logout-modified-id-token-hint',
        (hint: string) => `${base64url.encode('{"alg":"none"}')}.${hint.split('.')[1]}.`,
      ],
      [
        'oidcc-rp-initiated-logout-bad-id-token-hint',
        (hint: string) => `${hint.split('.', 2).join('.')}.${'A'.repeat(342)}`,
      ],
    ])('%s', async (_module, change) => {
      const hint = { id_token_hint: change(await hintOf()), state: 's-1' }
      const answer = await suite.signOut({ ...hint, post_logout_redirect_uri: BYE })
      expect(answer.status).toBe(400)
      expect(answer.headers['location']).toBeUndefined()
      expect(await suite.isSignedIn()).toBe(true)
    })

    test('oidcc-rp-initiated-logout-no-id-token-hint', async () => {
      await hintOf()
      const named = { client_id: suite.client.clientId, state: 's-1' }
      const page = await suite.signOut({ ...named, post_logout_redirect_uri: BYE })
      expect(page.status).toBe(200)
      expect(await suite.isSignedIn()).toBe(true)
      const gone = await suite.browser.submit(page, {})
      expect(gone.headers['location']).toBe(`${BYE}?state=s-1`)
      expect(await suite.isSignedIn()).toBe(false)
    })

    test.each([
      ['oidcc-rp-initiated-logout-no-params', {}, false],
      ['oidcc-rp-initiated-logout-only-state', { state: 's-1' }, false],
      ['oidcc-rp-initiated-logout-no-post-logout-redirect-uri', {}, true],
    ])('%s', async (_module, fields, isHinted) => {
      const hint = await hintOf()
      const page = await suite.signOut({ ...fields, ...(isHinted && { id_token_hint: hint }) })
      expect(page.headers['location']).toBeUndefined()
      expect(page.status).toBe(200)
      // A request that may be forged asks; one with a hint does not.
      const done = isHinted ? page : await suite.browser.submit(page, {})
      expect(done.text).toContain('You are signed out')
      expect(await suite.isSignedIn()).toBe(false)
    })
  })
})
