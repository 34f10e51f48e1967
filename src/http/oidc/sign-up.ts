import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'

import { newPasswordField, passwordIn, usernameField, usernameIn } from './fields.ts'
import { placeOf } from './form-targets.ts'
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
  const credentials = { email: usernameIn(fields), password: passwordIn(fields) }
  const signedUp = await context.accounts.signUp(site, pool, credentials, originOf(request))
  const { email, registrationId } = signedUp
  return seeOther(visit.pathTo('confirmUser', { step: 'confirm', email, registrationId }))
}

function signUpPage(visit: Visit, { typed, faults }: FormState): Response {
  const { site, pool, authorization, visitor } = visit
  if (!pool.settings.selfSignUp) {
    throw new AppError('SignUpDisabled', 'Accounts are made by invitation only on this site')
  }
  return formPage({
    title: 'Create your account',
    site,
    lead: html`to continue to <b>${placeOf(authorization.redirectUri)}</b>`,
    csrfToken: visitor.token,
    cookies: visitor.cookies,
    action: visit.pathTo('signup'),
    fields: [
      usernameField(typed.get('username') ?? authorization.loginHint),
      newPasswordField(pool.settings.passwordPolicy, 'Password'),
    ],
    submit: 'Create account',
    faults,
    more: linkLine('Already have an account?', visit.pathTo('login'), 'Sign in'),
  })
}
