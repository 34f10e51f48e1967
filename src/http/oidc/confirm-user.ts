import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'

import { SEND_AGAIN, codeField, readCode } from './fields.ts'
import type { Flow } from './flow.ts'
import { formTargetOf } from './form-targets.ts'
import { type FormState, formPage, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'
import { signInFormRoutes } from './sign-in-form.ts'
import type { Visit } from './visit.ts'

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
