import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { EmailAddress, canonicalEmail } from '#identity/email.ts'

import { requireCognitoClient } from './client.ts'
import { invalidParameter } from './cognito-error.ts'
import { deliveryTo } from './delivery.ts'
import {
  ClientFields,
  CodeField,
  PasswordField,
  UsernameField,
  cognitoOperation,
} from './operation.ts'

const Attributes = Type.Array(
  Type.Object({
    Name: Type.String({ maxLength: 64 }),
    Value: Type.Optional(Type.Union([Type.String({ maxLength: 2048 }), Type.Null()])),
  }),
  { maxItems: 50 },
)
type Attributes = (typeof Attributes)['static']

const SignUp = Type.Object({
  ...ClientFields,
  Username: UsernameField,
  Password: PasswordField,
  UserAttributes: Type.Optional(Type.Union([Attributes, Type.Null()])),
})

const ConfirmSignUp = Type.Object({
  ...ClientFields,
  Username: UsernameField,
  ConfirmationCode: CodeField,
})

const ResendConfirmationCode = Type.Object({ ...ClientFields, Username: UsernameField })

export const signUp = cognitoOperation(SignUp, async (parts, call, input) => {
  requireCognitoClient(call.pool, input)
  const email = addressOf(input.Username, input.UserAttributes ?? [])
  const credentials = { email, password: input.Password }
  const { sub } = await parts.signUps.signUp(call, credentials)
  return { UserConfirmed: false, UserSub: sub, ...deliveryTo(email) }
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

/** Accounts are named by their address and have no other attribute: what would be dropped is refused. */
function addressOf(username: string, attributes: Attributes): string {
  const email = canonicalEmail(username)
  if (!Value.Check(EmailAddress, email)) throw invalidParameter('Username should be an email.')
  for (const { Name, Value: value } of attributes) {
    if (Name !== 'email') {
      throw invalidParameter(
        `Attributes did not conform to the schema: ${Name}: Attribute does not exist in schema.`,
      )
    }
    if (canonicalEmail(value ?? '') !== email) {
      throw invalidParameter('The attribute email must be the address that Username is.')
    }
  }
  return email
}
