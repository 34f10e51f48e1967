import type { AuthorizationErrorCode } from '#identity/authorization/authorization-request.ts'
import type { CognitoErrorType } from '#identity/cognito/api/cognito-error.ts'
import type { OAuthErrorCode } from '#identity/token-endpoint/oauth-error.ts'

/** What happened, and what to do. */
export type CauseAndCure = readonly [cause: string, cure: string]

const LATER = 'Repeat the request after `Retry-After` seconds.'
const SIGN_IN_AGAIN = 'Start the sign-in again.'

/** The form of RFC 6749 and OpenID Connect: `error` and `error_description`, at the token endpoint and in redirects. */
export const OAUTH_CAUSES: Readonly<Record<OAuthErrorCode | AuthorizationErrorCode, CauseAndCure>> =
  {
    invalid_request: ['A parameter is missing, repeated or wrong.', 'Correct the one it names.'],
    invalid_client: ['Client id, secret or assertion is wrong.', 'Check it: `croft client list`.'],
    invalid_grant: [
      'The code or refresh token is used, expired or of another client.',
      SIGN_IN_AGAIN,
    ],
    invalid_redirect_uri: [
      'The client has not registered this redirect URI.',
      'Register it, character by character.',
    ],
    unauthorized_client: ['The client may not use this grant.', 'Register a client that may.'],
    unsupported_grant_type: ['The grant is not supported.', 'Use a code or a refresh token.'],
    unsupported_response_type: ['Only `code` is supported.', 'Send `response_type=code`.'],
    unsupported_response_mode: ['The response mode is not supported.', 'Leave it out.'],
    invalid_scope: [
      'A scope is unknown to the pool or client.',
      'Request scopes that are declared.',
    ],
    invalid_token: ['The access token is wrong or expired.', 'Refresh it.'],
    insufficient_scope: ['The token lacks a scope.', 'Request the scope at the sign-in.'],
    access_denied: ['The user or the pool refused.', 'Ask the user, or check the settings.'],
    login_required: ['`prompt=none`, and no session suffices.', 'Sign in on a page.'],
    consent_required: ['`prompt=none`, and the user has not agreed.', 'Ask on a page.'],
    request_not_supported: ['Request objects are not supported.', 'Send parameters instead.'],
    request_uri_not_supported: ['Request objects are not supported.', 'Send parameters instead.'],
    registration_not_supported: ['The parameter is not supported.', 'Register the client first.'],
    temporarily_unavailable: ['A part of the service is away.', LATER],
    server_error: ['An error of the service itself.', 'Operators: see the log.'],
  }

/** The names of Amazon Cognito's API, where a pool has it on. */
export const COGNITO_CAUSES: Readonly<Record<CognitoErrorType, CauseAndCure>> = {
  CodeMismatchException: ['The code is wrong.', 'Try again, or request a new one.'],
  EnableSoftwareTokenMFAException: [
    'The code of the app is wrong.',
    'Check the clock of the device.',
  ],
  InternalErrorException: ['An error of the service itself.', 'Operators: see the log.'],
  InvalidParameterException: ['A field is missing or wrong.', 'Correct the one it names.'],
  InvalidPasswordException: ['The password breaks a rule of the pool.', 'Choose another.'],
  LimitExceededException: ['Too many attempts.', LATER],
  NotAuthorizedException: ['The user name, password or token is wrong.', SIGN_IN_AGAIN],
  ResourceNotFoundException: ['The pool or client does not exist.', 'Check the client id.'],
  SerializationException: ['The body is not JSON of this operation.', 'Correct the body.'],
  TooManyRequestsException: ['Too many requests, or a part is away.', LATER],
  UnknownOperationException: ['The operation is not supported.', 'Use the OpenID endpoints.'],
  UnsupportedTokenTypeException: ['The token is not of this type.', 'Send a refresh token.'],
  UserNotConfirmedException: ['The sign-up has not been confirmed.', 'Confirm it with the code.'],
  WebAuthnChallengeNotFoundException: ['The passkey challenge has expired.', SIGN_IN_AGAIN],
}

/** Codes in other places: of a part of a response, in site code, of uploads to signed URLs. */
export const OTHER_CAUSES: Readonly<Record<string, CauseAndCure>> = {
  MessageNotInTrash: [
    'In a bulk purge: the message is not in the trash.',
    'Delete the message first.',
  ],
  None: [
    'In `reasons` of `TransactionCanceled`: this action alone would have succeeded.',
    'Look at the others.',
  ],
  LengthRequired: [
    'An upload to a signed URL has no length (status 411).',
    'Send `Content-Length`.',
  ],
  HostCallFailed: ['In site code: a call of `ctx` or `fetch` failed.', 'Read the message.'],
  CallOver: [
    'In site code: `ctx` was used after the call had ended.',
    'Await what the call needs, or use `ctx.waitUntil`.',
  ],
  CountsDiffer: [
    '`croft site verify`: a mailbox counts other numbers than it holds.',
    'Restore a backup beside it and compare.',
  ],
  OrphanedObjects: [
    '`croft site verify`: objects belong to no message.',
    'The sweep of every six hours removes them.',
  ],
  MessageWithoutRaw: [
    '`croft site verify`: a message has no bytes.',
    'Restore a backup beside it.',
  ],
  MessageSizeDiffers: ['`croft site verify`: a message has another length.', 'As above.'],
  RawObjectMissing: ['`croft site verify`: the bytes of a message are gone.', 'As above.'],
  RawObjectDiffers: ['`croft site verify`: the bytes of a message changed.', 'As above.'],
  AttachmentObjectsMissing: ['`croft site verify`: attachments are gone.', 'As above.'],
  AttachmentObjectsDiffer: ['`croft site verify`: attachments changed.', 'As above.'],
}
