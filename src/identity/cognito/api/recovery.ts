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
export const forgotPassword = cognitoOperation(
  ForgotPassword,
  async (parts, { site, pool, origin }, input) => {
    requireCognitoClient(pool, input)
    await parts.passwordResets.request(site, pool, input.Username, origin)
    return deliveryTo(input.Username)
  },
)

export const confirmForgotPassword = cognitoOperation(
  ConfirmForgotPassword,
  async (parts, { site, pool, origin }, input) => {
    requireCognitoClient(pool, input)
    const { Username: email, ConfirmationCode: code, Password: password } = input
    await parts.passwordResets.confirm(site, pool, { email, code, password }, origin)
    return {}
  },
)
