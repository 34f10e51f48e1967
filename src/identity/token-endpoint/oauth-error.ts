/** RFC 6749 section 5.2, RFC 6750 section 3.1, RFC 7009 section 2.2.1. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_token'
  | 'insufficient_scope'

const STATUS: Readonly<Record<OAuthErrorCode, 400 | 401 | 403>> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  invalid_token: 401,
  insufficient_scope: 403,
}

/** An error in OAuth's form, for the endpoints that clients call. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly error: OAuthErrorCode
  readonly description: string
  readonly status: 400 | 401 | 403

  constructor(error: OAuthErrorCode, description: string) {
    super(`${error}: ${description}`)
    this.error = error
    this.description = description
    this.status = STATUS[error]
  }
}

/** The result of a transaction. A refusal is returned, not thrown, so that what was written with it is committed. */
export type GrantResult<Result> =
  | { readonly kind: 'granted'; readonly result: Result }
  | { readonly kind: 'refused'; readonly error: OAuthErrorCode; readonly description: string }

export const granted = <Result>(result: Result): GrantResult<Result> => ({
  kind: 'granted',
  result,
})

export const denied = (error: OAuthErrorCode, description: string): GrantResult<never> => ({
  kind: 'refused',
  error,
  description,
})

export function requireGranted<Result>(outcome: GrantResult<Result>): Result {
  if (outcome.kind === 'granted') return outcome.result
  throw new OAuthError(outcome.error, outcome.description)
}
