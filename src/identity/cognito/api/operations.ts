import { changePassword, getUser, globalSignOut } from './account.ts'
import { initiateAuth } from './initiate-auth.ts'
import type { CognitoOperation } from './operation.ts'
import { confirmForgotPassword, forgotPassword } from './recovery.ts'
import { respondToAuthChallenge } from './respond-to-auth-challenge.ts'
import { confirmSignUp, resendConfirmationCode, signUp } from './sign-up.ts'
import { getTokensFromRefreshToken, revokeToken } from './tokens.ts'

/** Every target that this API has. */
export const OPERATIONS: ReadonlyMap<string, CognitoOperation> = new Map([
  ['SignUp', signUp],
  ['ConfirmSignUp', confirmSignUp],
  ['ResendConfirmationCode', resendConfirmationCode],
  ['InitiateAuth', initiateAuth],
  ['RespondToAuthChallenge', respondToAuthChallenge],
  ['GetTokensFromRefreshToken', getTokensFromRefreshToken],
  ['ForgotPassword', forgotPassword],
  ['ConfirmForgotPassword', confirmForgotPassword],
  ['GetUser', getUser],
  ['ChangePassword', changePassword],
  ['GlobalSignOut', globalSignOut],
  ['RevokeToken', revokeToken],
])
