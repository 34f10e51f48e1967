import type { AuthorizationParameters } from '#identity/authorization/authorization-parameters.ts'
import type {
  AuthorizationErrorCode,
  AuthorizationError,
} from '#identity/authorization/authorization-request.ts'

/** One rule for authorization requests: undefined when it is kept. */
export type ParameterCheck = (asked: AuthorizationParameters) => AuthorizationError | undefined

export const authorizationError = (
  error: AuthorizationErrorCode,
  description: string,
): AuthorizationError => ({
  error,
  description,
})

export const invalidRequestError = (description: string): AuthorizationError =>
  authorizationError('invalid_request', description)
