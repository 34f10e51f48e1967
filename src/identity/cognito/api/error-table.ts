import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'

import {
  CognitoError,
  invalidParameter,
  notAuthorized,
  wrongUsernameOrPassword,
} from './cognito-error.ts'

/** The operations for which Cognito has another error when a client must wait. */
const SIGN_IN: readonly string[] = ['InitiateAuth', 'RespondToAuthChallenge']

const ERRORS: Partial<Record<ErrorCode, (error: AppError) => CognitoError>> = {
  InvalidCredentials: wrongUsernameOrPassword,
  InvalidVerificationCode: () =>
    new CognitoError(
      'CodeMismatchException',
      'Invalid verification code provided, please try again.',
    ),
  InvalidPassword: (error) =>
    new CognitoError(
      'InvalidPasswordException',
      `Password did not conform with policy: Password ${faultsOf(error)}`,
    ),
  RecentSignInRequired: (error) => notAuthorized(error.message),
  CannotDeleteSelf: (error) => notAuthorized(error.message),
  UserNotFound: () => notAuthorized('Access Token has been revoked'),
  SecondFactorAlreadySet: () => invalidParameter('The account has a software token already'),
  SignUpDisabled: () => notAuthorized('SignUp is not permitted for this user pool'),
  ServiceUnavailable: ({ retryAfterSeconds }) =>
    new CognitoError('TooManyRequestsException', 'Too many requests', { retryAfterSeconds }),
  Unauthorized: () => notAuthorized('Invalid Access Token'),
  TokenExpired: () => notAuthorized('Access Token has expired'),
  UserPoolNotFound: () =>
    new CognitoError('ResourceNotFoundException', 'User pool does not exist.'),
  ValidationError: (error) => invalidParameter(error.message),
  InvalidJson: (error) => new CognitoError('SerializationException', error.message),
  InvalidContentEncoding: (error) => new CognitoError('SerializationException', error.message),
}

/** The error in Cognito's form; undefined for an internal error. */
export function cognitoErrorOf(error: unknown, operation: string): CognitoError | undefined {
  if (error instanceof CognitoError) return error
  if (!(error instanceof AppError)) return undefined
  if (error.code === 'TooManyRequests') return tooMany(error, operation)
  return ERRORS[error.code]?.(error)
}

function tooMany({ retryAfterSeconds }: AppError, operation: string): CognitoError {
  const options = { retryAfterSeconds }
  return SIGN_IN.includes(operation)
    ? new CognitoError('NotAuthorizedException', 'Password attempts exceeded', options)
    : new CognitoError(
        'LimitExceededException',
        'Attempt limit exceeded, please try after some time.',
        options,
      )
}

const faultsOf = ({ details = [] }: AppError): string =>
  details.map(({ message }) => message).join(', ')
