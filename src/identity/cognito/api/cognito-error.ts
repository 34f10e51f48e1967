/** The error types of Cognito that are used here. */
export type CognitoErrorType =
  | 'CodeMismatchException'
  | 'EnableSoftwareTokenMFAException'
  | 'InternalErrorException'
  | 'InvalidParameterException'
  | 'InvalidPasswordException'
  | 'LimitExceededException'
  | 'NotAuthorizedException'
  | 'ResourceNotFoundException'
  | 'SerializationException'
  | 'TooManyRequestsException'
  | 'UnknownOperationException'
  | 'UnsupportedTokenTypeException'
  | 'UserNotConfirmedException'
  | 'WebAuthnChallengeNotFoundException'

/** An error in Cognito's form, which its clients understand. */
export class CognitoError extends Error {
  override readonly name = 'CognitoError'
  readonly type: CognitoErrorType
  readonly retryAfterSeconds: number | undefined

  constructor(
    type: CognitoErrorType,
    message: string,
    options: { readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message)
    this.type = type
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

export const invalidParameter = (message: string): CognitoError =>
  new CognitoError('InvalidParameterException', message)

/** What would be dropped is refused. */
export const unknownAttribute = (name: string): CognitoError =>
  invalidParameter(
    `Attributes did not conform to the schema: ${name}: Attribute does not exist in schema.`,
  )

export const notAuthorized = (message: string): CognitoError =>
  new CognitoError('NotAuthorizedException', message)

/** Only for a client that proves the password of a sign-up. */
export const notConfirmed = (): CognitoError =>
  new CognitoError('UserNotConfirmedException', 'User is not confirmed.')

/** For every client that does not prove the password, whatever the reason. */
export const wrongUsernameOrPassword = (): CognitoError =>
  notAuthorized('Incorrect username or password.')
