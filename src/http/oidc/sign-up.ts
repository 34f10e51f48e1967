import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'

import { newPasswordField, readPassword, usernameField, readUsername } from './fields.ts'
import { displayHost } from './form-targets.ts'
import { type FormState, formPage, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { signInFormRoutes } from './sign-in-form.ts'
import type { Visit } from './visit.ts'

/** Where a stranger becomes a visitor with an account; the same answer whether the address has one or not. */
export const signUpRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'signup',
    open: 'The page on which people sign up',
    show: signUpPage,
    submit: (visit, fields) => signUp(context, visit, fields),
  })

async function signUp(
  context: AppContext,
  visit: Visit,
  fields: URLSearchParams,
): Promise<Response> {
  const { site, pool, request } = visit
  const credentials = { email: readUsername(fields), password: readPassword(fields) }
  const signedUp = await context.signUps.signUp(site, pool, credentials, originOf(request))
  const { email, registrationId } = signedUp
  return seeOther(visit.pathTo('confirmUser', { step: 'confirm', email, registrationId }))
}

function signUpPage(visit: Visit, { typed, errors }: FormState): Response {
  const { site, pool, authorization, csrf } = visit
  if (!pool.settings.selfSignUp) {
    throw new AppError('SignUpDisabled', 'Accounts are made by invitation only on this site')
  }
  return formPage({
    title: 'Create your account',
    site,
    lead: html`to continue to <b>${displayHost(authorization.redirectUri)}</b>`,
    csrfToken: csrf.token,
    cookies: csrf.cookies,
    action: visit.pathTo('signup'),
    fields: [
      usernameField(typed.get('username') ?? authorization.loginHint),
      newPasswordField(pool.settings.passwordPolicy, 'Password'),
    ],
    submit: 'Create account',
    errors,
    more: linkLine('Already have an account?', visit.pathTo('login'), 'Sign in'),
  })
}
