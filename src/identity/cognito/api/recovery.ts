import { Type } from '@sinclair/typebox'

import { requireCognitoClient } from './client.ts'
import { deliveryTo } from './delivery.ts'
import {
  ClientFields,
  CodeField,
  PasswordField,
  UsernameField,
  cognitoOperation,
} from './operation.ts'

const ForgotPassword = Type.Object({ ...ClientFields, Username: UsernameField })

const ConfirmForgotPassword = Type.Object({
  ...ClientFields,
  Username: UsernameField,
  ConfirmationCode: CodeField,
  Password: PasswordField,
})

/** The same answer for every address, as Cognito simulates a delivery. */
export const forgotPassword = cognitoOperation(ForgotPassword, async (parts, call, input) => {
  requireCognitoClient(call.pool, input)
  await parts.passwordResets.request(call, input.Username)
  return deliveryTo(input.Username)
})

export const confirmForgotPassword = cognitoOperation(
  ConfirmForgotPassword,
  async (parts, call, input) => {
    requireCognitoClient(call.pool, input)
    const { Username: email, ConfirmationCode: code, Password: password } = input
    await parts.passwordResets.confirm(call, { email, code, password })
    return {}
  },
)
