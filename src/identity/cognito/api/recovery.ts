import { Type } from '@sinclair/typebox'

import { clientOf } from './client.ts'
import { deliveryTo } from './delivery.ts'
import { ClientFields, Code, Password, Username, operation } from './operation.ts'

const ForgotPassword = Type.Object({ ...ClientFields, Username })

const ConfirmForgotPassword = Type.Object({
  ...ClientFields,
  Username,
  ConfirmationCode: Code,
  Password,
})

/** The same answer for every address, as Cognito simulates a delivery. */
export const forgotPassword = operation(
  ForgotPassword,
  async (parts, { site, pool, origin }, input) => {
    clientOf(pool, input)
    await parts.accounts.forgotPassword(site, pool, input.Username, origin)
    return deliveryTo(input.Username)
  },
)

export const confirmForgotPassword = operation(
  ConfirmForgotPassword,
  async (parts, { site, pool, origin }, input) => {
    clientOf(pool, input)
    const { Username: email, ConfirmationCode: code, Password: password } = input
    await parts.accounts.confirmForgotPassword(site, pool, { email, code, password }, origin)
    return {}
  },
)
