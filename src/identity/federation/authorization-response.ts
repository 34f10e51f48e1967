import type {
  AuthorizationErrorCode,
  AuthorizationError,
} from '#identity/authorization/authorization-request.ts'

import type { LoginState } from './login-states.ts'
import { printableErrorCode } from './provider-client.ts'
import { untrusted } from './provider-fault.ts'

const NAMES = ['state', 'code', 'iss', 'error', 'error_description'] as const
const MAX_CODE = 4096

/** The parameters of the provider's redirect. Anyone can write a link with them. */
export interface AuthorizationResponse {
  readonly state: string
  readonly code: string | undefined
  /** RFC 9207. */
  readonly iss: string | undefined
  readonly error: string | undefined
}

/** Undefined without a state, and when a parameter comes twice: two readers could each take another one. */
export function parseAuthorizationResponse(
  params: URLSearchParams,
): AuthorizationResponse | undefined {
  if (NAMES.some((name) => params.getAll(name).length > 1)) return undefined
  const valueOf = (name: (typeof NAMES)[number]) => params.get(name) ?? undefined
  const state = valueOf('state')
  if (state === undefined) return undefined
  return { state, code: valueOf('code'), iss: valueOf('iss'), error: valueOf('error') }
}

export function requireCode({ code }: AuthorizationResponse): string {
  if (code === undefined || code === '' || code.length > MAX_CODE) {
    throw untrusted('The answer has no code')
  }
  return code
}

/** RFC 9207, for errors as well: an error of another provider must not end this sign-in. */
export function requireSameIssuer(
  { iss }: AuthorizationResponse,
  { issuer, answersNameIssuer }: LoginState,
): void {
  if (iss === undefined && answersNameIssuer) throw untrusted('The answer names no issuer')
  if (iss !== undefined && iss !== issuer) throw untrusted('The answer is of another issuer')
}

/** Translates an error of the provider into one that the client knows. */
export function authorizationErrorOf(error: string): AuthorizationError {
  const refusal = ERRORS.get(error)
  if (refusal) return refusal
  return { error: 'server_error', description: `Google answered: ${printableErrorCode(error)}` }
}

const ERRORS: ReadonlyMap<string, AuthorizationError> = new Map(
  (
    [
      ['access_denied', 'access_denied', 'The user did not agree to sign in with Google'],
      ['login_required', 'login_required', 'The user has to sign in at Google'],
      ['interaction_required', 'login_required', 'Google has to ask the user something'],
      ['consent_required', 'login_required', 'Google has to ask the user something'],
      ['account_selection_required', 'login_required', 'Google has to ask the user something'],
      ['temporarily_unavailable', 'temporarily_unavailable', 'Google is not available now'],
    ] satisfies [string, AuthorizationErrorCode, string][]
  ).map(([theirs, error, description]) => [theirs, { error, description }]),
)
