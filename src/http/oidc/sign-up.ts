import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'

import {
  SEND_AGAIN,
  codeField,
  newPasswordField,
  readCode,
  readPassword,
  readUsername,
  usernameField,
} from './fields.ts'
import type { Flow } from './flow.ts'
import { displayHost, formTargetOf } from './form-targets.ts'
import { type FormState, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import {
  type InteractionRequest,
  completePasswordSignIn,
  interactionPage,
  signInFormRoutes,
} from './sign-in-form.ts'

/** The page that signs visitors up. It responds alike whether the address has an account or not. */
export const signUpRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'signup',
    open: 'The page on which people sign up',
    show: signUpPage,
    submit: signUp,
  })

async function signUp(
  context: AppContext,
  interaction: InteractionRequest,
  fields: URLSearchParams,
): Promise<Response> {
  const credentials = { email: readUsername(fields), password: readPassword(fields) }
  const signedUp = await context.signUps.signUp(interaction, credentials)
  const { email, registrationId } = signedUp
  return seeOther(interaction.pathTo('confirmUser', { step: 'confirm', email, registrationId }))
}

function signUpPage(interaction: InteractionRequest, { typed, errors }: FormState): Response {
  const { pool, authorization } = interaction
  if (!pool.settings.selfSignUp) {
    throw new AppError('SignUpDisabled', 'Accounts are made by invitation only on this site')
  }
  return interactionPage(interaction, {
    title: 'Create your account',
    lead: html`to continue to <b>${displayHost(authorization.redirectUri)}</b>`,
    action: interaction.pathTo('signup'),
    fields: [
      usernameField(typed.get('username') ?? authorization.loginHint),
      newPasswordField(pool.settings.passwordPolicy, 'Password'),
    ],
    submit: 'Create account',
    errors,
    more: linkLine('Already have an account?', interaction.pathTo('login'), 'Sign in'),
  })
}

type SignUpFlow = Extract<Flow, { step: 'confirm' }>

/** The page that confirms a sign-up with the mailed code, and signs the visitor in. */
export const confirmUserRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'confirmUser',
    open: 'The page on which people confirm their sign-up',
    show: confirmPage,
    submit: confirm,
  })

async function confirm(
  context: AppContext,
  interaction: InteractionRequest,
  fields: URLSearchParams,
): Promise<Response> {
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
}

function confirmPage(interaction: InteractionRequest, form: FormState): Response {
  const { flow } = interaction
  // Signing in with address and password redirects to this page again.
  return flow?.step === 'confirm'
    ? codePage(interaction, flow, form)
    : seeOther(interaction.pathTo('login'), interaction.csrf.cookies)
}

const codePage = (
  interaction: InteractionRequest,
  flow: SignUpFlow,
  { errors }: FormState,
): Response =>
  interactionPage(interaction, {
    title: 'Check your mail',
    lead: html`We have sent a message to <b>${flow.email}</b>. Enter the code that is in it.`,
    formTargets: [formTargetOf(interaction.authorization.redirectUri)],
    action: interaction.pathTo('confirmUser', flow),
    fields: [codeField],
    submit: 'Confirm',
    again: SEND_AGAIN,
    errors,
    notice: flow.resent ? 'We have sent you a new code.' : undefined,
    more: linkLine('Not your address?', interaction.pathTo('signup'), 'Start again'),
  })
