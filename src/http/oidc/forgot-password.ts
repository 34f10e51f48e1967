import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'

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
import { type FormState, formPage, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { type Visit, signInFormRoutes } from './sign-in-form.ts'

/** Where a code for a new password is asked for; the same answer whether the address has an account or not. */
export const forgotPasswordRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'forgotPassword',
    open: 'The page on which people ask for a new password',
    show: forgotPage,
    submit: (visit, fields) => forgot(context, visit, fields),
  })

async function forgot(
  context: AppContext,
  visit: Visit,
  fields: URLSearchParams,
): Promise<Response> {
  const { site, pool, request } = visit
  const email = readUsername(fields)
  await context.passwordResets.request(site, pool, email, originOf(request))
  return seeOther(visit.pathTo('confirmForgotPassword', { step: 'reset', email }))
}

const forgotPage = (visit: Visit, { typed, errors }: FormState): Response =>
  formPage({
    title: 'Forgot your password?',
    site: visit.site,
    lead: html`Enter your email address, and we will send you a code to set a new one.`,
    csrfToken: visit.csrf.token,
    cookies: visit.csrf.cookies,
    action: visit.pathTo('forgotPassword'),
    fields: [usernameField(typed.get('username') ?? visit.authorization.loginHint)],
    submit: 'Send the code',
    errors,
    more: linkLine('Remembered it?', visit.pathTo('login'), 'Sign in'),
  })

type ResetFlow = Extract<Flow, { step: 'reset' }>

/** Where the mailed code sets a new password. */
export const confirmForgotPasswordRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'confirmForgotPassword',
    open: 'The page on which people set a new password',
    show: resetPage,
    submit: (visit, fields) => reset(context, visit, fields),
  })

async function reset(
  context: AppContext,
  visit: Visit,
  fields: URLSearchParams,
): Promise<Response> {
  const { site, pool, flow, request } = visit
  if (flow?.step !== 'reset') return seeOther(visit.pathTo('forgotPassword'))
  const { email } = flow
  const origin = originOf(request)
  if (fields.get('action') === 'resend') {
    await context.passwordResets.request(site, pool, email, origin)
    return seeOther(visit.pathTo('confirmForgotPassword', { ...flow, resent: true }))
  }
  const change = { email, code: readCode(fields), password: readPassword(fields) }
  await context.passwordResets.confirm(site, pool, change, origin)
  return seeOther(visit.pathTo('login', { step: 'password-reset', email }))
}

function resetPage(visit: Visit, form: FormState): Response {
  const { flow } = visit
  return flow?.step === 'reset'
    ? newPasswordPage(visit, flow, form)
    : seeOther(visit.pathTo('forgotPassword'), visit.csrf.cookies)
}

const newPasswordPage = (visit: Visit, flow: ResetFlow, { typed, errors }: FormState): Response =>
  formPage({
    title: 'Set a new password',
    site: visit.site,
    lead: html`If <b>${flow.email}</b> has an account, a message with a code is on its way.`,
    csrfToken: visit.csrf.token,
    cookies: visit.csrf.cookies,
    action: visit.pathTo('confirmForgotPassword', flow),
    fields: [
      { ...codeField, value: typed.get('code') ?? undefined },
      newPasswordField(visit.pool.settings.passwordPolicy, 'New password'),
    ],
    account: flow.email,
    submit: 'Set password',
    again: SEND_AGAIN,
    errors,
    notice: flow.resent ? 'We have sent you a new code.' : undefined,
    more: linkLine('Remembered it?', visit.pathTo('login'), 'Sign in'),
  })
