import { AppError } from '#base/app-error.ts'
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
import { displayHost, formTargetOf } from './form-targets.ts'
import { type FormState, formPage, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'
import { type Visit, signInFormRoutes } from './sign-in-form.ts'

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

type SignUpFlow = Extract<Flow, { step: 'confirm' }>

/** Where a sign-up proves its address with the mailed code, and is signed in by it. */
export const confirmUserRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'confirmUser',
    open: 'The page on which people confirm their sign-up',
    show: confirmPage,
    submit: (visit, fields) => confirm(context, visit, fields),
  })

async function confirm(
  context: AppContext,
  visit: Visit,
  fields: URLSearchParams,
): Promise<Response> {
  const { site, pool, authorization, flow, request } = visit
  if (flow?.step !== 'confirm') return seeOther(visit.pathTo('login'))
  const { email, registrationId } = flow
  const origin = originOf(request)
  if (fields.get('action') === 'resend') {
    await context.signUps.resend(site, pool, { email, registrationId }, origin)
    return seeOther(visit.pathTo('confirmUser', { ...flow, resent: true }))
  }
  const authTime = context.clock.now()
  const confirmation = { email, registrationId, code: readCode(fields) }
  const { sub } = await context.signUps.confirm(site, pool, confirmation, origin)
  // The flow is this browser's own, which gave the password; the code has just proven the address.
  const proof = { sub, method: 'password', authTime, replaces: readSession(request, pool) } as const
  const signedIn = await context.signIns.complete(site, authorization, proof, origin)
  return seeOther(signedIn.location, [sessionCookie(pool, signedIn.session)])
}

function confirmPage(visit: Visit, form: FormState): Response {
  const { flow } = visit
  // Signing in with address and password leads back here.
  return flow?.step === 'confirm'
    ? codePage(visit, flow, form)
    : seeOther(visit.pathTo('login'), visit.csrf.cookies)
}

const codePage = (visit: Visit, flow: SignUpFlow, { errors }: FormState): Response =>
  formPage({
    title: 'Check your mail',
    site: visit.site,
    lead: html`We have sent a message to <b>${flow.email}</b>. Enter the code that is in it.`,
    csrfToken: visit.csrf.token,
    cookies: visit.csrf.cookies,
    formTargets: [formTargetOf(visit.authorization.redirectUri)],
    action: visit.pathTo('confirmUser', flow),
    fields: [codeField],
    submit: 'Confirm',
    again: SEND_AGAIN,
    errors,
    notice: flow.resent ? 'We have sent you a new code.' : undefined,
    more: linkLine('Not your address?', visit.pathTo('signup'), 'Start again'),
  })
