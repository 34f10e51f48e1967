import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const
type Prompt = (typeof PROMPTS)[number]

/** What a client asks of the sign-in, once every check has passed. */
export interface AuthorizationRequest {
  readonly pool: Pool
  readonly client: Client
  readonly redirectUri: string
  /** What is granted, space-separated: what was asked for and is known. */
  readonly scope: string
  readonly state: string | undefined
  readonly nonce: string | undefined
  /** SHA-256 of the verifier, base64url. */
  readonly codeChallenge: string
  readonly prompts: ReadonlySet<Prompt>
  readonly maxAgeSeconds: number | undefined
  readonly loginHint: string | undefined
  readonly identityProvider: 'Google' | undefined
  /** An id token of ours, not verified yet: whom the client expects. */
  readonly idTokenHint: string | undefined
  /** `link_ticket`, as it came: who adds a provider to which account. Only the link client has one; federation reads it. */
  readonly linkTicket?: string | undefined
  /** The request in its canonical form, for the pages that carry it on; `checkAuthorization` reads it again. */
  readonly query: string
}

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
  /** Client or redirect URI are not to be trusted: the browser stays here. */
  | ({ readonly kind: 'error-page' } & AuthorizationError)
  | { readonly kind: 'error-redirect'; readonly location: string }
