import { Type } from '@sinclair/typebox'

import { findSessionAccount } from '#identity/sessions/session-accounts.ts'

import { accessTokenClaims } from './client.ts'
import { notAuthorized } from './cognito-error.ts'
import { PasswordField, TokenField, cognitoOperation } from './operation.ts'

const Authenticated = Type.Object({ AccessToken: TokenField })

const ChangePassword = Type.Object({
  AccessToken: TokenField,
  PreviousPassword: PasswordField,
  ProposedPassword: PasswordField,
})

export const getUser = cognitoOperation(Authenticated, async (parts, call, { AccessToken }) => {
  const { sub } = await accessTokenClaims(parts, call, AccessToken)
  const account = await parts.database.withSite(call.site.siteId, (tx) =>
    findSessionAccount(tx, call.pool, sub),
  )
  if (!account) throw notAuthorized('Access Token has been revoked')
  const { totp } = await parts.secondFactors.state(call.site, call.pool, sub)
  return {
    Username: account.email,
    UserAttributes: [
      { Name: 'email', Value: account.email },
      { Name: 'email_verified', Value: String(account.emailVerified) },
      ...(account.name === null ? [] : [{ Name: 'name', Value: account.name }]),
      { Name: 'sub', Value: sub },
    ],
    ...(totp && {
      PreferredMfaSetting: 'SOFTWARE_TOKEN_MFA',
      UserMFASettingList: ['SOFTWARE_TOKEN_MFA'],
    }),
  }
})

/** Ends every sign-in but the caller's, as clients expect. */
export const changePassword = cognitoOperation(ChangePassword, async (parts, call, input) => {
  const { sub, origin_jti: familyId } = await accessTokenClaims(parts, call, input.AccessToken)
  const change = {
    sub,
    oldPassword: input.PreviousPassword,
    newPassword: input.ProposedPassword,
    keep: familyId === undefined ? undefined : { sessionId: familyId },
  }
  await parts.ownPasswords.change(call, change)
  return {}
})

export const globalSignOut = cognitoOperation(
  Authenticated,
  async (parts, call, { AccessToken }) => {
    const { sub } = await accessTokenClaims(parts, call, AccessToken)
    await parts.database.withSite(call.site.siteId, (tx) =>
      parts.signOut.everywhere(tx, call.pool, sub, {
        by: { type: 'owner', origin: call.origin },
      }),
    )
    return {}
  },
)
