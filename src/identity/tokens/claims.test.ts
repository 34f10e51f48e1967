import { describe, expect, test } from 'vitest'

import { type AccessTokenFormat, type Client, PUBLIC } from '#identity/pools/client.ts'

import { newTokenClaims, tokenTypeOf } from './claims.ts'

const clientWith = (accessTokenFormat: AccessTokenFormat): Client => ({
  clientId: 'abcdefghijklmnopqrstuvwxyz',
  purpose: 'default',
  redirectUris: [],
  logoutUris: [],
  cognitoApi: false,
  accessTokenFormat,
  proofs: PUBLIC,
  application: undefined,
})
const poolWith = (client: Client) => ({
  issuer: 'https://one.test/oidc/eu-1_AbCdEf123',
  apiOrigin: 'https://one.test',
  clientId: client.clientId,
  clients: new Map([[client.clientId, client]]),
})
const POOL = poolWith(clientWith('cognito'))
const SUBJECT = {
  sub: 'sub-1',
  username: 'ann',
  email: 'ann@one.test',
  emailVerified: true,
  groups: ['admin'],
}
const STAMP = { issuedAtSeconds: 1_800_000_000, authTimeSeconds: 1_799_999_000, jti: 'jti-1' }

const SHARED = {
  sub: 'sub-1',
  iss: POOL.issuer,
  username: 'ann',
  'cognito:groups': ['admin'],
  auth_time: 1_799_999_000,
  iat: 1_800_000_000,
  exp: 1_800_003_600,
  jti: 'jti-1',
}

describe('the claims of a token', () => {
  test('for access name the client in client_id and no address', () => {
    expect(newTokenClaims(POOL, 'access', SUBJECT, STAMP)).toEqual({
      ...SHARED,
      token_use: 'access',
      client_id: POOL.clientId,
    })
  })

  test('for id name the client in aud, and the address', () => {
    expect(newTokenClaims(POOL, 'id', SUBJECT, STAMP)).toEqual({
      ...SHARED,
      token_use: 'id',
      aud: POOL.clientId,
      'cognito:username': 'ann',
      email: 'ann@one.test',
      email_verified: true,
    })
  })

  test('for access name the site in aud, beside the client, where RFC 9068 is wanted', () => {
    const pool = poolWith(clientWith('rfc9068'))
    const access = newTokenClaims(pool, 'access', SUBJECT, STAMP)
    expect(access).toMatchObject({ client_id: POOL.clientId, aud: 'https://one.test' })
    expect(newTokenClaims(pool, 'id', SUBJECT, STAMP)).toMatchObject({ aud: POOL.clientId })
  })

  test.each([
    ['cognito', 'access', 'JWT'],
    ['cognito', 'id', 'JWT'],
    ['rfc9068', 'access', 'at+jwt'],
    ['rfc9068', 'id', 'JWT'],
  ] as const)(
    'of a client with the format %s, for %s, belong under the type %s',
    (format, use, typ) => {
      expect(tokenTypeOf(newTokenClaims(poolWith(clientWith(format)), use, SUBJECT, STAMP))).toBe(
        typ,
      )
    },
  )

  test.each([
    ['openid email', true],
    ['openid profile', false],
    ['openid', false],
    ['aws.cognito.signin.user.admin', true],
  ])('for id of the scope "%s" tell the address: %s', (scope, tells) => {
    const signIn = { familyId: 'family-1', scope }
    const id = newTokenClaims(POOL, 'id', SUBJECT, { ...STAMP, signIn })
    expect(['email' in id, 'email_verified' in id]).toEqual([tells, tells])
  })

  test.each([
    ['openid profile', 'Ann', 'Ann'],
    ['openid profile', null, undefined],
    ['openid email', 'Ann', undefined],
    ['aws.cognito.signin.user.admin', 'Ann', 'Ann'],
  ])('for id of the scope "%s" and the name %s have the name %s', (scope, name, told) => {
    const signIn = { familyId: 'family-1', scope }
    const id = newTokenClaims(POOL, 'id', { ...SUBJECT, name }, { ...STAMP, signIn })
    expect(id.name).toBe(told)
  })

  test('name the sign-in that they come from', () => {
    const signIn = { familyId: 'family-1', scope: 'openid email', nonce: 'n-1' }
    expect(newTokenClaims(POOL, 'access', SUBJECT, { ...STAMP, signIn })).toMatchObject({
      origin_jti: 'family-1',
      scope: 'openid email',
    })
    const id = newTokenClaims(POOL, 'id', SUBJECT, { ...STAMP, signIn })
    expect(id).toMatchObject({ origin_jti: 'family-1', nonce: 'n-1' })
    expect(id).not.toHaveProperty('scope')
  })

  test('leave cognito:groups out when there is none', () => {
    expect(newTokenClaims(POOL, 'access', { ...SUBJECT, groups: [] }, STAMP)).not.toHaveProperty(
      'cognito:groups',
    )
  })
})
