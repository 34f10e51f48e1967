import { collectErrors } from '#base/collect-errors.ts'
import type { AppContext } from '#context'
import { provenBy } from '#http/plugins/effects.ts'
import { signUpDisabled } from '#identity/accounts/errors.ts'
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
import { formTargetOf } from './form-targets.ts'
import { googleSignInLink } from './google-sign-in-link.ts'
import { applicationName } from './pages/application.ts'
import { linkLine } from './pages/form.ts'
import { seeOther } from './see-other.ts'
import { completePasswordSignIn, interactionPage, signInFormRoutes } from './sign-in-form.ts'

/** The page that signs visitors up. The response is the same whether the address has an account or not. */
export const signUpRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'signup',
    open: 'The page on which people sign up',
    effects: [],
    show: (interaction, { typed, errors }) => {
      const { pool, authorization, pathTo } = interaction
      if (!pool.settings.selfSignUp) {
        throw signUpDisabled()
      }
      return interactionPage(interaction, {
        title: t('sign-up.title'),
        lead: t('sign-in.to-application', { application: applicationName(authorization) }),
        instead: googleSignInLink(interaction),
        action: pathTo('signup'),
        fields: [
          usernameField(typed.get('username') ?? authorization.loginHint),
          newPasswordField(pool.settings.passwordPolicy, t('field.password')),
        ],
        submit: t('sign-up.submit'),
        errors,
        more: linkLine(t('sign-up.has-account'), pathTo('login'), t('sign-up.sign-in')),
      })
    },
    async submit(interaction, fields) {
      const [typed, password] = await collectErrors(
        () => readUsername(fields),
        () => readPassword(fields),
      )
      const signedUp = await context.signUps.signUp(interaction, { email: typed, password })
      const { email, registrationId } = signedUp
      return seeOther(interaction.pathTo('confirmUser', { step: 'confirm', email, registrationId }))
    },
  })

/** The page that confirms a sign-up with the mailed code, and signs the visitor in. */
export const confirmUserRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'confirmUser',
    open: 'The page on which people confirm their sign-up',
    effects: provenBy('a mailed code', ['movesAccount']),
    show: (interaction, { errors }) => {
      const { flow, pathTo } = interaction
      // Signing in with address and password redirects to this page again.
      if (flow?.step !== 'confirm') return seeOther(pathTo('login'), interaction.csrf.cookies)
      return interactionPage(interaction, {
        title: t('sign-up.check-mail'),
        lead: t('sign-up.code-sent', { email: flow.email }),
        formTargets: [formTargetOf(interaction.authorization.redirectUri)],
        action: pathTo('confirmUser', flow),
        fields: [codeField],
        submit: t('sign-up.confirm'),
        again: SEND_AGAIN,
        errors,
        notice: resentNotice(flow),
        more: linkLine(t('sign-up.not-your-address'), pathTo('signup'), t('sign-up.start-again')),
      })
    },
    async submit(interaction, fields) {
      const { flow } = interaction
      if (flow?.step !== 'confirm') return seeOther(interaction.pathTo('login'))
      const { email, registrationId } = flow
      if (fields.get('action') === 'resend') {
        await context.signUps.resend(interaction, { email, registrationId })
        return seeOther(interaction.pathTo('confirmUser', { ...flow, resent: true }))
      }
      const authTime = context.clock.now()
      const confirmation = { email, registrationId, code: readCode(fields) }
      const { sub } = await context.signUps.confirm(interaction, confirmation)
      // The flow belongs to the browser that sent the password, and the code has just proven the address.
      return completePasswordSignIn(context, interaction, { sub, authTime })
    },
  })
