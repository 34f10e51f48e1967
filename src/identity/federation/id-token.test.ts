import { generateKeyPairSync } from 'node:crypto'

import { SignJWT, createLocalJWKSet } from 'jose'
import { describe, expect, test } from 'vitest'

import { readIdToken } from './id-token.ts'
import { GOOGLE_ISSUER } from './model.ts'
import { ProviderFault } from './provider-fault.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const keys = createLocalJWKSet({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] })
const NOW = new Date('2026-11-20T12:00:00Z')
const iat = NOW.getTime() / 1000

const tokenOf = (claims: object): Promise<string> =>
  new SignJWT({ aud: 'us', sub: '1', nonce: 'n', iat, exp: iat + 300, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .sign(privateKey)

const read = async (issuer: string, claims: object) =>
  readIdToken(await tokenOf(claims), keys, { issuer, clientId: 'us', nonce: 'n', now: NOW })

describe('the issuer of an id token', () => {
  test('may be Google’s without the scheme, as Google documents it', async () => {
    for (const iss of [GOOGLE_ISSUER, 'accounts.google.com']) {
      expect(await read(GOOGLE_ISSUER, { iss })).toMatchObject({ subject: '1' })
    }
  })

  test.each([
    ['https://idp.test', 'idp.test'],
    ['https://idp.test', 'accounts.google.com'],
    ['https://idp.test', 'https://idp.test/'],
    [GOOGLE_ISSUER, 'http://accounts.google.com'],
    [GOOGLE_ISSUER, ['https://accounts.google.com']],
  ])('of %s is not %j', async (issuer, iss) => {
    await expect(read(issuer, { iss })).rejects.toThrow(ProviderFault)
  })
})

describe('what an id token says of the address', () => {
  test('is handed on as it is, to be judged elsewhere', async () => {
    const iss = GOOGLE_ISSUER
    const claims = { iss, email: ['x'], email_verified: 'yes', auth_time: 5 }
    expect(await read(iss, claims)).toEqual({
      subject: '1',
      email: ['x'],
      emailVerified: 'yes',
      authTimeSeconds: 5,
    })
  })
})
