import type { PoolRequest } from '#identity/pool-request.ts'

import { changePassword, getUser, globalSignOut } from './account.ts'
import { deleteOwnUser, updateUserAttributes, verifyUserAttribute } from './attributes.ts'
import { CognitoError } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import { cognitoErrorOf } from './error-table.ts'
import { initiateAuth } from './initiate-auth.ts'
import type { CognitoOperation } from './operation.ts'
import {
  completeWebAuthnRegistration,
  deleteWebAuthnCredential,
  listWebAuthnCredentials,
  startWebAuthnRegistration,
} from './passkeys.ts'
import { confirmForgotPassword, forgotPassword } from './recovery.ts'
import { respondToAuthChallenge } from './respond-to-auth-challenge.ts'
import {
  associateSoftwareToken,
  setUserMfaPreference,
  verifySoftwareToken,
} from './second-factor.ts'
import { confirmSignUp, resendConfirmationCode, signUp } from './sign-up.ts'
import { getTokensFromRefreshToken, revokeToken } from './tokens.ts'

const SERVICE = 'AWSCognitoIdentityProviderService.'

/** Every target that this API has. */
const OPERATIONS: ReadonlyMap<string, CognitoOperation> = new Map([
  ['SignUp', signUp],
  ['ConfirmSignUp', confirmSignUp],
  ['ResendConfirmationCode', resendConfirmationCode],
  ['InitiateAuth', initiateAuth],
  ['RespondToAuthChallenge', respondToAuthChallenge],
  ['GetTokensFromRefreshToken', getTokensFromRefreshToken],
  ['ForgotPassword', forgotPassword],
  ['ConfirmForgotPassword', confirmForgotPassword],
  ['GetUser', getUser],
  ['UpdateUserAttributes', updateUserAttributes],
  ['VerifyUserAttribute', verifyUserAttribute],
  ['DeleteUser', deleteOwnUser],
  ['ChangePassword', changePassword],
  ['GlobalSignOut', globalSignOut],
  ['RevokeToken', revokeToken],
  ['AssociateSoftwareToken', associateSoftwareToken],
  ['VerifySoftwareToken', verifySoftwareToken],
  ['SetUserMFAPreference', setUserMfaPreference],
  ['StartWebAuthnRegistration', startWebAuthnRegistration],
  ['CompleteWebAuthnRegistration', completeWebAuthnRegistration],
  ['ListWebAuthnCredentials', listWebAuthnCredentials],
  ['DeleteWebAuthnCredential', deleteWebAuthnCredential],
])

/** Cognito's JSON API for clients that the operator lets use it, so that programs written for Cognito sign in unchanged. */
export class CognitoApi {
  readonly #parts: CognitoServices

  constructor(parts: CognitoServices) {
    this.#parts = parts
  }

  /** `target` is the header `X-Amz-Target`. Refusals are `CognitoError`s. */
  async call(call: PoolRequest, target: string, body: string): Promise<object> {
    const name = target.startsWith(SERVICE) ? target.slice(SERVICE.length) : ''
    const operation = OPERATIONS.get(name)
    if (!operation) throw new CognitoError('UnknownOperationException', 'There is no such target')
    try {
      return await operation(this.#parts, call, parsed(body))
    } catch (error) {
      throw cognitoErrorOf(error, name) ?? error
    }
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new CognitoError('SerializationException', 'The request body is not valid JSON')
  }
}
