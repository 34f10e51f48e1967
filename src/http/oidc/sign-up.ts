import { allFaults } from '#base/all-faults.ts'
import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'

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
import { googleInstead } from './google-instead.ts'
import { applicationName } from './pages/application.ts'
import { linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { completePasswordSignIn, interactionPage, signInFormRoutes } from './sign-in-form.ts'

/** The page that signs visitors up. It responds alike whether the address has an account or not. */
export const signUpRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'signup',
    open: 'The page on which people sign up',
    show: (interaction, { typed, errors }) => {
      const { pool, authorization, pathTo } = interaction
      if (!pool.settings.selfSignUp) {
        throw new AppError('SignUpDisabled', 'Accounts are made by invitation only on this site')
      }
      return interactionPage(interaction, {
        title: 'Create your account',
        lead: html`to continue to ${applicationName(authorization)}`,
        instead: googleInstead(interaction),
        action: pathTo('signup'),
        fields: [
          usernameField(typed.get('username') ?? authorization.loginHint),
          newPasswordField(pool.settings.passwordPolicy, 'Password'),
        ],
        submit: 'Create account',
        errors,
        more: linkLine('Already have an account?', pathTo('login'), 'Sign in'),
      })
    },
    async submit(interaction, fields) {
      const [typed, password] = await allFaults(
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
    show: (interaction, { errors }) => {
      const { flow, pathTo } = interaction
      // Signing in with address and password redirects to this page again.
      if (flow?.step !== 'confirm') return seeOther(pathTo('login'), interaction.csrf.cookies)
      return interactionPage(interaction, {
        title: 'Check your mail',
        lead: html`We have sent a message to <b>${flow.email}</b>. Enter the code that is in it.`,
        formTargets: [formTargetOf(interaction.authorization.redirectUri)],
        action: pathTo('confirmUser', flow),
        fields: [codeField],
        submit: 'Confirm',
        again: SEND_AGAIN,
        errors,
        notice: resentNotice(flow),
        more: linkLine('Not your address?', pathTo('signup'), 'Start again'),
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
