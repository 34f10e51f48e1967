import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'

import { usernameField, readUsername } from './fields.ts'
import { type FormState, formPage, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { signInFormRoutes } from './sign-in-form.ts'
import type { Visit } from './visit.ts'

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
