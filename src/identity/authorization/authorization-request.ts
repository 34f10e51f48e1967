import type { Language } from '#base/language.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const
type Prompt = (typeof PROMPTS)[number]

/** An authorization request of a client, after every check has passed. */
export interface AuthorizationRequest {
  readonly pool: Pool
  readonly client: Client
  readonly redirectUri: string
  /** The issuer that the client asked: the pool's, or a former one. */
  readonly issuer: string
  /** The granted scopes, space-separated: those that were requested and exist. */
  readonly scope: string
  readonly state: string | undefined
  readonly nonce: string | undefined
  /** SHA-256 of the verifier, base64url; undefined where PKCE is left out. */
  readonly codeChallenge: string | undefined
  readonly prompts: ReadonlySet<Prompt>
  readonly maxAgeSeconds: number | undefined
  readonly loginHint: string | undefined
  readonly identityProvider: 'Google' | undefined
  /** What `ui_locales` asks for; undefined where it asks for none that there is. */
  readonly language: Language | undefined
  /** `id_token_hint`, not verified yet: the user that the client expects. */
  readonly idTokenHint: string | undefined
  /** `link_ticket`, not verified yet: the account to which a provider is to be added. */
  readonly linkTicket?: string | undefined
  /** The request in its canonical form, for the pages that carry it on; `checkAuthorization` reads it again. */
  readonly query: string
}

/** Whether the request is to add a provider to an account: of the client for it, and of the account's page. */
export const isLinkRequest = ({
  client,
  linkTicket,
}: Pick<AuthorizationRequest, 'client' | 'linkTicket'>): boolean =>
  client.purpose === 'link' || (client.purpose === 'account' && linkTicket !== undefined)

/** A sign-in at a site for a client's request. */
export interface LoginAttempt {
  readonly site: Site
  readonly request: AuthorizationRequest
  readonly origin: RequestOrigin
}

/** RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6, and two of wider use for what is refused here. */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_redirect_uri'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'unsupported_response_mode'
  | 'invalid_scope'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'server_error'
  | 'temporarily_unavailable'

export interface AuthorizationError {
  readonly error: AuthorizationErrorCode
  readonly description: string
}

export type CheckedAuthorization =
  | { readonly kind: 'valid'; readonly request: AuthorizationRequest }
  /** Client or redirect URI are not valid, so the browser must not be redirected. */
  | ({ readonly kind: 'error-page' } & AuthorizationError)
  | { readonly kind: 'error-redirect'; readonly location: string }
