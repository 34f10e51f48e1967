import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ProviderFault, untrusted } from './provider-fault.ts'
import { type ProviderResponse, isUsableEndpoint } from './provider-http.ts'

const Url = Type.String({ minLength: 1, maxLength: 2048 })
const Words = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 200 })

/** The members of OpenID Connect Discovery 1.0 section 3 and RFC 9207 that are used here. */
const Metadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Url,
  token_endpoint: Url,
  jwks_uri: Url,
  userinfo_endpoint: Type.Optional(Url),
  token_endpoint_auth_methods_supported: Type.Optional(Words),
  authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
})

/** A provider's metadata, after it was checked against the operator's settings. */
export interface ProviderMetadata {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly jwksUri: string
  readonly userInfoEndpoint: string | undefined
  /** Where the client secret is sent: in a header, unless the provider takes it in the form only. */
  readonly secretIn: 'header' | 'form'
  /** Whether every authorization response names the issuer (RFC 9207). */
  readonly answersNameIssuer: boolean
}

/** OpenID Connect appends the well-known part to the issuer's path; RFC 8414 would insert it before the path. */
export const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

export function parseProviderMetadata(
  issuer: string,
  { status, json }: ProviderResponse,
): ProviderMetadata {
  if (status !== 200) {
    throw new ProviderFault('unreachable', `The discovery of "${issuer}" answers ${status}`)
  }
  if (!Value.Check(Metadata, json)) {
    throw untrusted(`The discovery document of "${issuer}" is not valid`)
  }
  // Otherwise one provider could pass for another.
  if (json.issuer !== issuer) {
    throw untrusted(`The discovery document of "${issuer}" names another issuer`)
  }
  const endpoints = {
    authorizationEndpoint: json.authorization_endpoint,
    tokenEndpoint: json.token_endpoint,
    jwksUri: json.jwks_uri,
    userInfoEndpoint: json.userinfo_endpoint,
  }
  for (const [name, url] of Object.entries(endpoints)) {
    if (url !== undefined && !isUsableEndpoint(url, issuer)) {
      throw untrusted(`The discovery document of "${issuer}" names a ${name} without https`)
    }
  }
  return {
    issuer,
    ...endpoints,
    secretIn: secretPlacement(json.token_endpoint_auth_methods_supported),
    answersNameIssuer: json.authorization_response_iss_parameter_supported ?? false,
  }
}

/** OpenID Connect Discovery 1.0 section 3: `client_secret_basic` is the default. */
function secretPlacement(methods: readonly string[] = ['client_secret_basic']): 'header' | 'form' {
  if (methods.includes('client_secret_basic')) return 'header'
  return methods.includes('client_secret_post') ? 'form' : 'header'
}
