import { createHash } from 'node:crypto'

import { Value } from '@sinclair/typebox/value'

import type { Clock } from '#base/clock.ts'
import { isShownDomain } from '#base/domain-name.ts'
import { EmailAddress, canonicalEmail } from '#identity/email.ts'

import { type ProviderClaims, isUnknownKey, readIdToken } from './id-token.ts'
import { type PromptOptions, promptParameters } from './prompt-options.ts'
import { ProviderDocuments } from './provider-documents.ts'
import { ProviderFault, untrusted } from './provider-fault.ts'
import { ProviderHttp } from './provider-http.ts'
import type { ProviderMetadata } from './provider-metadata.ts'
import type { ProviderAccess } from './providers.ts'

/** A user of a provider. */
export interface ProviderUser {
  /** Unlike an address, an issuer never gives it to another user. */
  readonly subject: string
  /** Whether the provider named an address, verified or not. */
  readonly hasEmail: boolean
  /** The address, when the provider says that it has verified it. */
  readonly verifiedEmail: string | undefined
  readonly authTimeSeconds: number | undefined
}

/** The parameters of the redirect to the provider. */
export interface AuthorizationUrlRequest extends PromptOptions, Omit<ProviderGrant, 'code'> {
  readonly state: string
}

/** The code of the provider's redirect, with what its tokens must match. */
export interface ProviderGrant {
  readonly code: string
  readonly redirectUri: string
  readonly nonce: string
  readonly verifier: string
}

/** The relying party of OpenID Connect's code flow: PKCE, nonce, id token. Every failure is a `ProviderFault`. */
export class ProviderClient {
  readonly #http = new ProviderHttp()
  readonly #documents: ProviderDocuments
  readonly #clock: Clock

  constructor(deps: { clock: Clock }) {
    this.#documents = new ProviderDocuments(this.#http, deps.clock)
    this.#clock = deps.clock
  }

  metadata(issuer: string): Promise<ProviderMetadata> {
    return this.#documents.metadata(issuer)
  }

  /** The URL of the provider's sign-in. The scopes are sent as the operator configured them. */
  async authorizationUrl(
    access: ProviderAccess,
    request: AuthorizationUrlRequest,
  ): Promise<string> {
    const { authorizationEndpoint } = await this.metadata(access.issuer)
    const url = new URL(authorizationEndpoint)
    const params = {
      response_type: 'code',
      client_id: access.clientId,
      redirect_uri: request.redirectUri,
      scope: access.scopes.join(' '),
      state: request.state,
      nonce: request.nonce,
      code_challenge: createHash('sha256').update(request.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...promptParameters(access.issuer, request),
    }
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return url.href
  }

  /**
   * Whether the provider knows `access.redirectUri` as the client's; undefined where its response says neither. No standard
   * says how providers refuse one: most show a page of 4xx, Google leads to a page of errors.
   */
  async knowsCallback(
    access: ProviderAccess,
    secrets: Pick<AuthorizationUrlRequest, 'state' | 'nonce' | 'verifier'>,
  ): Promise<boolean | undefined> {
    const { redirectUri, issuer } = access
    const request = { ...secrets, redirectUri, prompts: [] }
    const url = await this.authorizationUrl(access, {
      ...request,
      maxAgeSeconds: undefined,
      loginHint: undefined,
    })
    const { status, location } = await this.#http.page({ url, issuer })
    if (status >= 500) return undefined
    if (status >= 400) return false
    if (location === undefined) return status === 200 ? undefined : false
    return location.startsWith(redirectUri) || !isErrorPage(new URL(location, url))
  }

  async redeem(access: ProviderAccess, grant: ProviderGrant): Promise<ProviderUser> {
    const metadata = await this.metadata(access.issuer)
    const tokens = await this.#exchange(access, metadata, grant)
    const claims = await this.#claims(access, metadata, { token: tokens['id_token'], grant })
    const { subject, authTimeSeconds } = claims
    const { email, emailVerified } =
      claims.email === undefined
        ? await this.#userInfo(metadata, subject, tokens['access_token'])
        : claims
    return {
      subject,
      authTimeSeconds,
      hasEmail: email !== undefined && email !== null && email !== '',
      // `true` alone counts, neither "true" nor 1.
      verifiedEmail: emailVerified === true ? usableEmail(email) : undefined,
    }
  }

  async #exchange(
    access: ProviderAccess,
    { tokenEndpoint, secretIn, issuer }: ProviderMetadata,
    grant: ProviderGrant,
  ): Promise<Readonly<Record<string, unknown>>> {
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code: grant.code,
      redirect_uri: grant.redirectUri,
      code_verifier: grant.verifier,
    })
    if (secretIn === 'form') {
      form.set('client_id', access.clientId)
      form.set('client_secret', access.clientSecret)
    }
    const headers = secretIn === 'header' ? [basicCredentials(access)] : []
    const { status, json } = await this.#http.send({ url: tokenEndpoint, issuer, form, headers })
    if (status === 200) return json
    throw new ProviderFault(
      'refused',
      `The token endpoint answers ${status} "${printableErrorCode(json['error'])}"`,
    )
  }

  /** Loads the keys again when the token names an unknown one: providers rotate them. */
  async #claims(
    { issuer, clientId }: ProviderAccess,
    metadata: ProviderMetadata,
    { token, grant }: { readonly token: unknown; readonly grant: ProviderGrant },
  ): Promise<ProviderClaims> {
    const expected = { issuer, clientId, nonce: grant.nonce, now: this.#clock.now() }
    try {
      return await readIdToken(token, await this.#documents.keys(metadata), expected)
    } catch (error) {
      const newer = isUnknownKey(error) ? await this.#documents.newerKeys(metadata) : undefined
      if (!newer) throw error
      return readIdToken(token, newer, expected)
    }
  }

  /** OpenID Connect Core section 5.4: in the code flow, the claims of `email` may be in the user info alone. */
  async #userInfo(
    { userInfoEndpoint: url, issuer }: ProviderMetadata,
    subject: string,
    accessToken: unknown,
  ): Promise<Pick<ProviderClaims, 'email' | 'emailVerified'>> {
    const none = { email: undefined, emailVerified: undefined }
    if (url === undefined || typeof accessToken !== 'string') return none
    if (!BEARER.test(accessToken)) throw untrusted('The access token is none')
    const { status, json } = await this.#http.send({
      url,
      issuer,
      headers: [['authorization', `Bearer ${accessToken}`]],
    })
    if (status !== 200) throw new ProviderFault('refused', `The user info answers ${status}`)
    // OpenID Connect Core section 5.3.2: otherwise it may be the user info of another user.
    if (json['sub'] !== subject) throw untrusted('The user info is about another user')
    return { email: json['email'], emailVerified: json['email_verified'] }
  }
}

const isErrorPage = ({ pathname, searchParams }: URL): boolean =>
  /(?:^|\/)error(?:\/|$)/.test(pathname) ||
  searchParams.has('error') ||
  searchParams.has('authError')

/** RFC 6750, section 2.1. */
const BEARER = /^[\w\-.~+/]{1,8192}=*$/

/** RFC 6749 section 2.3.1: id and secret are form-encoded before they are joined. */
function basicCredentials({ clientId, clientSecret }: ProviderAccess): readonly [string, string] {
  const encoded = [clientId, clientSecret].map((part) =>
    new URLSearchParams({ '': part }).toString().slice(1),
  )
  return ['authorization', `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`]
}

/** The address in its canonical spelling; undefined for what is no address, or may become another one in lower case. */
function usableEmail(email: unknown): string | undefined {
  if (!Value.Check(EmailAddress, email)) return undefined
  // Some characters become another letter in lower case: the Kelvin sign becomes "k".
  const asciiLower = email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  if (email.toLowerCase() !== asciiLower) return undefined
  // And some in a domain: a wide letter becomes a plain one.
  const domain = asciiLower.slice(asciiLower.lastIndexOf('@') + 1)
  return isShownDomain(domain) ? canonicalEmail(email) : undefined
}

/** An error code of the provider, without characters that do not belong into a log. */
export const printableErrorCode = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/[^\w.-]/g, '').slice(0, 64) : ''
