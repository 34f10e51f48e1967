import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'

import { readPassword, usernameField, readUsername } from './fields.ts'
import { formTargetOf, displayHost } from './form-targets.ts'
import { type FormState, formPage, linkLine } from './pages/form.ts'
import { googleButton } from './pages/google-button.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'
import { type Visit, signInFormRoutes } from './sign-in-form.ts'

/** Address and password: the way in. */
export const loginRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'login',
    open: 'The page on which people sign in',
    show: loginPage,
    submit: (visit, fields) => signIn(context, visit, fields),
  })

async function signIn(
  context: AppContext,
  visit: Visit,
  fields: URLSearchParams,
): Promise<Response> {
  const { site, pool, authorization, request } = visit
  const origin = originOf(request)
  const authTime = context.clock.now()
  const credentials = { email: readUsername(fields), password: readPassword(fields) }
  const answer = await context.passwordSignIns.authenticate(site, pool, credentials, origin)
  if (answer.kind === 'unconfirmed') {
    const { registrationId } = answer
    const flow = { step: 'confirm', email: credentials.email, registrationId } as const
    return seeOther(visit.pathTo('confirmUser', flow))
  }
  const proof = {
    sub: answer.user.sub,
    method: 'password',
    authTime,
    replaces: readSession(request, pool),
  } as const
  const signedIn = await context.signIns.complete(site, authorization, proof, origin)
  return seeOther(signedIn.location, [sessionCookie(pool, signedIn.session)])
}

function loginPage(visit: Visit, { typed, errors }: FormState): Response {
  const { site, pool, authorization, flow, csrf } = visit
  const known = flow?.step === 'password-reset' ? flow.email : authorization.loginHint
  return formPage({
    title: 'Sign in',
    site,
    lead: leadOf(visit),
    instead: pool.google?.enabled ? googleButton(googlePath(visit)) : undefined,
    csrfToken: csrf.token,
    cookies: csrf.cookies,
    formTargets: [formTargetOf(authorization.redirectUri)],
    action: visit.pathTo('login'),
    fields: [
      usernameField(typed.get('username') ?? known),
      {
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        aside: html`<a class="link" href="${visit.pathTo('forgotPassword')}">Forgot password?</a>`,
      },
    ],
    submit: 'Sign in',
    errors,
    notice:
      flow?.step === 'password-reset'
        ? 'Your password is changed. Sign in with the new one.'
        : undefined,
    more: pool.settings.selfSignUp
      ? linkLine('No account yet?', visit.pathTo('signup'), 'Create one')
      : undefined,
  })
}

const leadOf = ({ pool, authorization }: Visit) =>
  pool.kind === 'admin'
    ? html`to the administration of <b>${displayHost(pool.issuer)}</b>`
    : html`to continue to <b>${displayHost(authorization.redirectUri)}</b>`

function googlePath(visit: Visit): string {
  const url = new URL(visit.pathTo('oauth2/authorize'), visit.pool.issuer)
  url.searchParams.set('identity_provider', 'Google')
  return `${url.pathname}${url.search}`
}
