import { Type } from '@sinclair/typebox'

import { findSessionAccount } from '#identity/sessions/session-accounts.ts'

import { claimsOf } from './access-token.ts'
import { notAuthorized } from './cognito-error.ts'
import { Password, Token, operation } from './operation.ts'

const Holder = Type.Object({ AccessToken: Token })

const ChangePassword = Type.Object({
  AccessToken: Token,
  PreviousPassword: Password,
  ProposedPassword: Password,
})

export const getUser = operation(Holder, async (parts, call, { AccessToken }) => {
  const { sub } = await claimsOf(parts, call, AccessToken)
  const holder = await parts.database.withSite(call.site.siteId, (tx) =>
    findSessionAccount(tx, call.pool, sub),
  )
  if (!holder) throw notAuthorized('Access Token has been revoked')
  return {
    Username: holder.email,
    UserAttributes: [
      { Name: 'email', Value: holder.email },
      { Name: 'email_verified', Value: String(holder.emailVerified) },
      { Name: 'sub', Value: sub },
    ],
  }
})

/** Ends every other sign-in; the one that asks goes on, as the client expects. */
export const changePassword = operation(ChangePassword, async (parts, call, input) => {
  const { site, pool, origin } = call
  const { sub, origin_jti: familyId } = await claimsOf(parts, call, input.AccessToken)
  const change = {
    sub,
    oldPassword: input.PreviousPassword,
    newPassword: input.ProposedPassword,
    keep: familyId === undefined ? undefined : { sessionId: familyId },
  }
  await parts.accounts.changePassword(site, pool, change, origin)
  return {}
})

export const globalSignOut = operation(Holder, async (parts, call, { AccessToken }) => {
  const { sub } = await claimsOf(parts, call, AccessToken)
  await parts.database.withSite(call.site.siteId, (tx) =>
    parts.signOut.everywhere(tx, call.pool, sub, { origin: call.origin }),
  )
  return {}
})
