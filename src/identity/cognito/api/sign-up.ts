import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { EmailAddress, canonicalEmail } from '#identity/email.ts'

import { requireCognitoClient } from './client.ts'
import { invalidParameter, unknownAttribute } from './cognito-error.ts'
import { deliveryTo } from './delivery.ts'
import {
  UserAttributes,
  ClientFields,
  CodeField,
  PasswordField,
  UsernameField,
  cognitoOperation,
} from './operation.ts'

const SignUp = Type.Object({
  ...ClientFields,
  Username: UsernameField,
  Password: PasswordField,
  UserAttributes: Type.Optional(Type.Union([UserAttributes, Type.Null()])),
})

const ConfirmSignUp = Type.Object({
  ...ClientFields,
  Username: UsernameField,
  ConfirmationCode: CodeField,
})

const ResendConfirmationCode = Type.Object({ ...ClientFields, Username: UsernameField })

export const signUp = cognitoOperation(SignUp, async (parts, call, input) => {
  requireCognitoClient(call.pool, input)
  const account = accountOf(input.Username, input.UserAttributes ?? [])
  const { sub } = await parts.signUps.signUp(call, { ...account, password: input.Password })
  return { UserConfirmed: false, UserSub: sub, ...deliveryTo(account.email) }
})

export const confirmSignUp = cognitoOperation(ConfirmSignUp, async (parts, call, input) => {
  requireCognitoClient(call.pool, input)
  const confirmation = { email: input.Username, code: input.ConfirmationCode }
  await parts.signUps.confirm(call, confirmation)
  return {}
})

export const resendConfirmationCode = cognitoOperation(
  ResendConfirmationCode,
  async (parts, call, input) => {
    requireCognitoClient(call.pool, input)
    await parts.signUps.resend(call, { email: input.Username })
    return deliveryTo(input.Username)
  },
)

/** Accounts are named by their address and have a name beside it. */
function accountOf(
  username: string,
  attributes: UserAttributes,
): { readonly email: string; readonly name?: string } {
  const email = canonicalEmail(username)
  if (!Value.Check(EmailAddress, email)) throw invalidParameter('Username should be an email.')
  let name: string | undefined
  for (const { Name, Value: value } of attributes) {
    if (Name === 'name') name = value ?? ''
    else if (Name !== 'email') throw unknownAttribute(Name)
    else if (canonicalEmail(value ?? '') !== email) {
      throw invalidParameter('The attribute email must be the address that Username is.')
    }
  }
  return { email, ...(name !== undefined && { name }) }
}
