import { Value } from '@sinclair/typebox/value'
import { describe, expect, test } from 'vitest'

import { DiscoveryDocument, discoveryDocument } from './discovery-document.ts'

const ISSUER = 'https://one.test/oidc/eu-central-1_AbCdEf123'
const document = discoveryDocument({ issuer: ISSUER, settings: { scopes: {} } })

describe('the discovery document', () => {
  test('is what the route declares', () => {
    expect(Value.Check(DiscoveryDocument, document)).toBe(true)
  })

  test('keeps every address under the issuer, at Cognito’s paths', () => {
    const paths = Object.entries(document).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.replace(ISSUER, '')]] : [],
    )
    expect(Object.fromEntries(paths)).toEqual({
      issuer: '',
      authorization_endpoint: '/oauth2/authorize',
      token_endpoint: '/oauth2/token',
      userinfo_endpoint: '/oauth2/userInfo',
      revocation_endpoint: '/oauth2/revoke',
      end_session_endpoint: '/logout',
      jwks_uri: '/.well-known/jwks.json',
    })
  })

  test('offers no flow but code with S256, and no algorithm but RS256', () => {
    expect(document).toMatchObject({
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['RS256'],
      request_parameter_supported: false,
    })
  })
})
