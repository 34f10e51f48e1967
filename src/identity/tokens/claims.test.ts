import { describe, expect, test } from 'vitest'

import { newTokenClaims } from './claims.ts'

const POOL = {
  issuer: 'https://one.test/oidc/eu-1_AbCdEf123',
  clientId: 'abcdefghijklmnopqrstuvwxyz',
}
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
      email: 'ann@one.test',
      email_verified: true,
    })
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
