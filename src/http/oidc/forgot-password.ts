import { collectErrors } from '#base/collect-errors.ts'
import type { AppContext } from '#context'
import { provenBy } from '#http/plugins/effects.ts'
import { t } from '#languages/message.ts'

import {
  SEND_AGAIN,
  codeField,
  newPasswordField,
  readCode,
  readPassword,
  readUsername,
  resentNotice,
  usernameField,
} from './fields.ts'
import { linkLine } from './pages/form.ts'
import { seeOther } from './see-other.ts'
import { type InteractionRequest, interactionPage, signInFormRoutes } from './sign-in-form.ts'

/** The page that requests a code for a new password. The response is the same whether the address has an account or not. */
export const forgotPasswordRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'forgotPassword',
    open: 'The page on which people ask for a new password',
    effects: [],
    show: (interaction, { typed, errors }) =>
      interactionPage(interaction, {
        title: t('reset.title'),
        lead: t('reset.lead'),
        action: interaction.pathTo('forgotPassword'),
        fields: [usernameField(typed.get('username') ?? interaction.authorization.loginHint)],
        submit: t('reset.submit'),
        errors,
        more: signInLine(interaction),
      }),
    async submit(interaction, fields) {
      const email = readUsername(fields)
      await context.passwordResets.request(interaction, email)
      return seeOther(interaction.pathTo('confirmForgotPassword', { step: 'reset', email }))
    },
  })

/** The page that sets a new password with the mailed code. */
export const confirmForgotPasswordRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'confirmForgotPassword',
    open: 'The page on which people set a new password',
    effects: provenBy('a mailed code', ['movesAccount']),
    show: (interaction, { typed, errors }) => {
      const { flow } = interaction
      if (flow?.step !== 'reset') {
        return seeOther(interaction.pathTo('forgotPassword'), interaction.csrf.cookies)
      }
      return interactionPage(interaction, {
        title: t('reset.new-title'),
        lead: t('reset.new-lead', { email: flow.email }),
        action: interaction.pathTo('confirmForgotPassword', flow),
        fields: [
          { ...codeField, value: typed.get('code') ?? undefined },
          newPasswordField(interaction.pool.settings.passwordPolicy, t('field.new-password')),
        ],
        account: flow.email,
        submit: t('reset.set'),
        again: SEND_AGAIN,
        errors,
        notice: resentNotice(flow),
        more: signInLine(interaction),
      })
    },
    async submit(interaction, fields) {
      const { flow } = interaction
      if (flow?.step !== 'reset') return seeOther(interaction.pathTo('forgotPassword'))
      const { email } = flow
      if (fields.get('action') === 'resend') {
        await context.passwordResets.request(interaction, email)
        return seeOther(interaction.pathTo('confirmForgotPassword', { ...flow, resent: true }))
      }
      const [code, password] = await collectErrors(
        () => readCode(fields),
        () => readPassword(fields),
      )
      const change = { email, code, password }
      await context.passwordResets.confirm(interaction, change)
      return seeOther(interaction.pathTo('login', { step: 'password-reset', email }))
    },
  })

const signInLine = ({ pathTo }: InteractionRequest) =>
  linkLine(t('reset.remembered'), pathTo('login'), t('sign-in.submit'))
