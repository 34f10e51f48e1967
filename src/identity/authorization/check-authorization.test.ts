import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type Client, PUBLIC } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import { storedPoolSettings } from '#identity/pools/settings.ts'

import type { CheckedAuthorization } from './authorization-request.ts'
import { checkAuthorization } from './check-authorization.ts'

const REDIRECT_URI = 'https://app.example/callback?tenant=1'
const own: Client = {
  clientId: 'own',
  purpose: 'default',
  redirectUris: [REDIRECT_URI],
  logoutUris: [],
  cognitoApi: false,
  accessTokenFormat: 'cognito',
  proofs: PUBLIC,
  application: undefined,
}
const POOL: Pool = {
  kind: 'data',
  userPoolId: 'eu-central-1_AbCdEf123',
  clientId: 'own',
  issuer: 'https://one.test/oidc/eu-central-1_AbCdEf123',
  issuers: ['https://one.test/oidc/eu-central-1_AbCdEf123'],
  apiOrigin: 'https://one.test',
  passkeyOrigins: ['https://one.test'],
  relyingPartyId: 'one.test',
  settings: storedPoolSettings('data', {}),
  clients: new Map([
    ['own', own],
    ['api', { ...own, clientId: 'api', cognitoApi: true }],
    ['link', { ...own, clientId: 'link', purpose: 'link' }],
    ['account', { ...own, clientId: 'account', purpose: 'account' }],
    [
      'confidential',
      {
        ...own,
        clientId: 'confidential',
        purpose: 'registered',
        proofs: { ...PUBLIC, authentication: 'client_secret' },
      },
    ],
  ]),
  google: { issuer: 'https://g.example', clientId: 'g', scopes: [], enabled: true },
  keys: new Map(),
  signingKid: '',
  version: '',
}
const GOOD = {
  client_id: 'own',
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}

const check = (changes: Record<string, string> = {}): CheckedAuthorization =>
  checkAuthorization(POOL, new URLSearchParams({ ...GOOD, ...changes }))

function requestOf(changes: Record<string, string> = {}) {
  const result = check(changes)
  if (result.kind !== 'valid') throw new Error(`The request is ${result.kind}`)
  return result.request
}

describe('an authorization request', () => {
  test('is read as it was written', () => {
    const request = requestOf({
      state: 's',
      nonce: 'n',
      prompt: 'login consent login',
      max_age: '60',
      login_hint: 'a@b.c',
      identity_provider: 'Google',
    })
    expect(request).toMatchObject({
      pool: POOL,
      client: own,
      redirectUri: REDIRECT_URI,
      scope: 'openid',
      state: 's',
      nonce: 'n',
      codeChallenge: GOOD.code_challenge,
      maxAgeSeconds: 60,
      loginHint: 'a@b.c',
      identityProvider: 'Google',
      idTokenHint: undefined,
    })
    expect([...request.prompts].sort()).toEqual(['consent', 'login'])
  })

  test('comes out the same from its own query', () => {
    const request = requestOf({ prompt: 'login', max_age: '0', state: 'ü&=', unknown: 'x' })
    const again = checkAuthorization(POOL, new URLSearchParams(request.query))
    expect(again).toEqual({ kind: 'valid', request })
  })

  test.each([
    ['own', '', 'openid email profile'],
    ['own', 'openid phone email email', 'openid email'],
    ['own', 'openid aws.cognito.signin.user.admin', 'openid'],
    ['api', 'openid aws.cognito.signin.user.admin', 'openid aws.cognito.signin.user.admin'],
  ])('of the client "%s" for "%s" is granted "%s"', (client_id, scope, granted) => {
    expect(requestOf({ client_id, scope }).scope).toBe(granted)
  })

  test.each([
    ['COGNITO', undefined],
    ['', undefined],
    ['Google', 'Google'],
  ])('with identity_provider "%s" goes to %s', (identity_provider, provider) => {
    expect(requestOf({ identity_provider }).identityProvider).toBe(provider)
  })

  test('of the client for linking is about a provider', () => {
    expect(requestOf({ client_id: 'link', identity_provider: 'Google' }).client.purpose).toBe(
      'link',
    )
    expect(check({ client_id: 'link' })).toMatchObject({
      kind: 'error-redirect',
      location: expect.stringContaining('error=unauthorized_client'),
    })
  })

  test('that is refused is answered at the redirect URI as it was registered', () => {
    const answer = check({ response_type: 'token', state: 'a b' })
    expect(answer).toEqual({
      kind: 'error-redirect',
      location:
        `${REDIRECT_URI}&error=unsupported_response_type` +
        '&error_description=response_type+must+be+%22code%22&state=a+b' +
        `&iss=${encodeURIComponent(POOL.issuer)}`,
    })
  })

  test('never sends anyone to an address that is not registered', () => {
    const name = fc.constantFrom(
      ...Object.keys(GOOD),
      'state',
      'nonce',
      'prompt',
      'max_age',
      'request',
      'login_hint',
      'other',
    )
    const value = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom(...Object.values(GOOD), '', '\u0000ü', 'none', 'login', 'Google'),
      fc.string().map((text) => REDIRECT_URI + text),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (extra) => {
        const params = new URLSearchParams([...Object.entries(GOOD), ...extra])
        for (const [key] of extra) if (extra.length % 2) params.delete(key)
        for (const [key, text] of extra) if (extra.length % 2) params.append(key, text)
        const result = checkAuthorization(POOL, params)
        const target = params.getAll('redirect_uri')
        const leads = result.kind !== 'error-page'
        expect(leads && (target.length !== 1 || target[0] !== REDIRECT_URI)).toBe(false)
        expect(result.kind !== 'error-redirect' || result.location.startsWith(REDIRECT_URI)).toBe(
          true,
        )
      }),
      { numRuns: 300 },
    )
  })
})

test.each([
  ['own', 'error-redirect'],
  ['api', 'error-redirect'],
  ['link', 'error-redirect'],
  ['confidential', 'valid'],
  ['account', 'valid'],
])('the client "%s" asks without PKCE: %s', (clientId, kind) => {
  const without = { ...GOOD, client_id: clientId, identity_provider: 'Google' }
  const params = new URLSearchParams(without)
  params.delete('code_challenge')
  params.delete('code_challenge_method')
  expect(checkAuthorization(POOL, params).kind).toBe(kind)
})
