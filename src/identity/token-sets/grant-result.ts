import { OAuthError, type OAuthErrorCode } from './oauth-error.ts'

/** What a transaction came to. A refusal is returned, not thrown, where what it has found out must be committed. */
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
