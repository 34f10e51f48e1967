import { type Static, Type } from '@sinclair/typebox'

import { canonicalEmail } from '#identity/email.ts'

import { accessTokenClaims, signedInOf } from './client.ts'
import { unknownAttribute } from './cognito-error.ts'
import { deliveryTo } from './delivery.ts'
import { UserAttributes, CodeField, TokenField, cognitoOperation } from './operation.ts'

const Update = Type.Object({ AccessToken: TokenField, UserAttributes })
const Verify = Type.Object({
  AccessToken: TokenField,
  AttributeName: Type.String({ maxLength: 64 }),
  Code: CodeField,
})
const Delete = Type.Object({ AccessToken: TokenField })

/** A new name is there at once; a new address once its code has come back (`VerifyUserAttribute`). */
export const updateUserAttributes = cognitoOperation(Update, async (parts, call, input) => {
  const claims = await accessTokenClaims(parts, call, input.AccessToken)
  const { sub } = claims
  const { name, email } = wantedIn(input.UserAttributes)
  const account = await parts.selfService.get(call, sub)
  const moves = email !== undefined && email !== account.email
  if (moves) {
    await parts.signInProofs.use(call, signedInOf(claims), () =>
      parts.addressCodes.request(call, sub, email),
    )
  }
  if (name !== undefined) await parts.selfService.rename(call, sub, name)
  return { CodeDeliveryDetailsList: moves ? [deliveryTo(email).CodeDeliveryDetails] : [] }
})

export const verifyUserAttribute = cognitoOperation(Verify, async (parts, call, input) => {
  const { sub } = await accessTokenClaims(parts, call, input.AccessToken)
  if (input.AttributeName !== 'email') throw unknownAttribute(input.AttributeName)
  await parts.addressCodes.confirm(call, sub, input.Code)
  return {}
})

/** Out of use at once; a mailed link takes the account back for seven days. */
export const deleteOwnUser = cognitoOperation(Delete, async (parts, call, input) => {
  const claims = await accessTokenClaims(parts, call, input.AccessToken)
  await parts.signInProofs.use(call, signedInOf(claims), () =>
    parts.accountDeletions.begin(call, claims.sub),
  )
  return {}
})

function wantedIn(attributes: Static<typeof UserAttributes>): {
  readonly name?: string
  readonly email?: string
} {
  const wanted: { name?: string; email?: string } = {}
  for (const { Name, Value } of attributes) {
    if (Name === 'name') wanted.name = Value ?? ''
    else if (Name === 'email') wanted.email = canonicalEmail(Value ?? '')
    else throw unknownAttribute(Name)
  }
  return wanted
}
