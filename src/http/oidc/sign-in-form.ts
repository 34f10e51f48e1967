import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import type { RouteEffects } from '#http/plugins/effects.ts'
import { type PoolPageRequest, pages } from '#http/plugins/pages.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { NextStep } from '#identity/authorization/sign-ins.ts'
import type { KnownDevice } from '#identity/pool-request.ts'
import type { SecondFactor } from '#identity/second-factors/second-factors.ts'

import { poolScope } from './cookies.ts'
import { type CsrfSession, csrfSession, hasCsrfToken } from './csrf.ts'
import { FLOW, type Flow, Flows } from './flow.ts'
import { readForm } from './form-body.ts'
import { KnownDevices } from './known-devices.ts'
import { applicationLogo, privacyLine } from './pages/application.ts'
import { authorizationErrorPage } from './pages/error-page.ts'
import { EXPIRED_FORM, formErrorsOf } from './pages/form-errors.ts'
import { EMPTY_FORM, type FormPage, type FormState, formPage } from './pages/form.ts'
import { html } from './pages/html.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'

/** A request to one page of a sign-in, with the client's request that the browser came for. */
export interface InteractionRequest extends PoolPageRequest {
  readonly authorization: AuthorizationRequest
  readonly flow: Flow | undefined
  readonly csrf: CsrfSession
  readonly browser: KnownDevice
  /** The `Set-Cookie` for a browser in which an account has just signed in. */
  readonly remember: (email: string) => string
  /** The path of another page of this sign-in, with the flow that it continues. */
  readonly pathTo: (page: PageName, flow?: Flow) => string
}

type PageName =
  | 'login'
  | 'signup'
  | 'confirmUser'
  | 'forgotPassword'
  | 'confirmForgotPassword'
  | 'mfa'
  | 'mfaSetup'
  | 'passkey'
  | 'consent'
  | 'oauth2/authorize'

/** What a page of a sign-in needs of the request to it, and of the client's request that it carries. */
export function interactionOpener({ sealer, clock }: AppContext) {
  const formKey = sealer.derive('sign-in-forms')
  const flows = new Flows(sealer.derive('sign-in-flows'), clock)
  const browsers = new KnownDevices({ sealer, clock })
  return (
    poolRequest: PoolPageRequest,
    authorization: AuthorizationRequest,
    sealedFlow: string | null,
    accountForm?: string,
  ): InteractionRequest => {
    const { pool, request } = poolRequest
    const address = accountForm === undefined ? pool.issuer : `${pool.issuer}/${accountForm}`
    const csrf = csrfSession(formKey, request, address, poolScope(pool))
    const browser = `${pool.issuer}\n${csrf.secret}`
    return {
      ...poolRequest,
      authorization,
      flow: sealedFlow === null ? undefined : flows.open(sealedFlow, browser),
      csrf,
      browser: browsers.of(poolRequest, csrf),
      remember: (email) => browsers.remembered(request, pool, email),
      pathTo: (page, next) => {
        const suffix = next ? `&${FLOW}=${flows.seal(next, browser)}` : ''
        return `${new URL(pool.issuer).pathname}/${page}?${authorization.query}${suffix}`
      },
    }
  }
}

/**
 * Reads requests to the pages. Every page carries the client's request, which is checked each time; nothing is stored.
 * Returns the response instead for a client's request that may not be served.
 */
function interactionReader(context: AppContext, { name, ofAccount }: SignInForm) {
  const open = interactionOpener(context)
  return (poolRequest: PoolPageRequest): InteractionRequest | Response => {
    const { pool, request } = poolRequest
    const params = new URL(request.url).searchParams
    const sealedFlow = params.get(FLOW)
    params.delete(FLOW)
    const check = checkAuthorization(pool, params)
    if (check.kind === 'error-page') return authorizationErrorPage(poolRequest, check)
    if (check.kind === 'error-redirect') return seeOther(check.location)

    const { client, query } = check.request
    // The link client signs in at the provider alone, on none of these pages.
    if (client.purpose === 'link') {
      return seeOther(`${new URL(pool.issuer).pathname}/oauth2/authorize?${query}`)
    }
    return open(poolRequest, check.request, sealedFlow, ofAccount ? name : undefined)
  }
}

/** Where a browser goes that is signed in. */
export const locationOf = ({ pathTo }: InteractionRequest, next: NextStep): string =>
  next.kind === 'client'
    ? next.location
    : pathTo('consent', { step: 'consent', sub: next.sub, authTimeMs: next.authTime.getTime() })

/** One page of the sign-in: what it shows, and what its form does. */
interface SignInForm {
  readonly name: PageName
  /** Why anyone may call it. */
  readonly open: string
  /**
   * Whether it is of an account that has proven itself: no window that opened it reads it, and no other form has its token.
   */
  readonly ofAccount?: true
  /** Of its form. */
  readonly effects: RouteEffects
  /** Shows the form, also again with its errors. */
  show(interaction: InteractionRequest, form: FormState): Response | Promise<Response>
  /** Rejects with an `AppError` that the form shows, or with another error. */
  submit(interaction: InteractionRequest, fields: URLSearchParams): Promise<Response>
}

/** GET and POST of one page. */
export const signInFormRoutes = (context: AppContext, form: SignInForm) => {
  const open = interactionReader(context, form)
  const poolPage = { open: form.open, ...(!form.ofAccount && { popups: true as const }) }
  const prefix: string = `/oidc/:userPoolId/${form.name}`
  return new Elysia({ prefix })
    .use(pages(context))
    .get(
      '/',
      async ({ poolRequest }) => {
        const opened = open(poolRequest)
        return opened instanceof Response ? opened : form.show(opened, EMPTY_FORM)
      },
      { poolPage, params: PoolPath },
    )
    .post(
      '/',
      async ({ poolRequest }) => {
        const opened = open(poolRequest)
        return opened instanceof Response ? opened : submitted(form, opened)
      },
      { poolPage, changes: { audit: 'page', effects: form.effects }, params: PoolPath },
    )
}

async function submitted(form: SignInForm, interaction: InteractionRequest): Promise<Response> {
  const { request, csrf } = interaction
  const fields = await readForm(request)
  const state = { typed: fields }
  if (!hasCsrfToken(csrf, fields)) return form.show(interaction, { ...state, errors: EXPIRED_FORM })
  try {
    return await form.submit(interaction, fields)
  } catch (error) {
    return form.show(interaction, { ...state, errors: formErrorsOf(error) })
  }
}

/** A page with a form that only this browser can send. It shows the application that asks. */
export const interactionPage = (
  { site, csrf, authorization, language }: InteractionRequest,
  page: Omit<FormPage, 'language' | 'site' | 'csrfToken' | 'cookies' | 'headers' | 'emblem'>,
): Response => {
  const privacy = privacyLine(authorization)
  return formPage({
    site,
    language,
    csrfToken: csrf.token,
    cookies: csrf.cookies,
    emblem: applicationLogo(authorization),
    ...page,
    more: privacy ? html`${page.more} ${privacy}` : page.more,
  })
}

/** Whose password was right. */
interface ProvenPassword {
  readonly sub: string
  /** Taken before it was checked. */
  readonly authTime: Date
}

/** Signs the browser in, whose user has just given the password; or asks for the second step first. */
export async function completePasswordSignIn(
  context: AppContext,
  interaction: InteractionRequest,
  account: ProvenPassword,
): Promise<Response> {
  const { site, pool, pathTo } = interaction
  const { totp } = await context.secondFactors.state(site, pool, account.sub)
  if (totp || pool.settings.requireSecondFactor) {
    const authTimeMs = account.authTime.getTime()
    const next = { step: 'second-factor', sub: account.sub, authTimeMs } as const
    return seeOther(pathTo(totp ? 'mfa' : 'mfaSetup', next))
  }
  const { location, cookies } = await startSession(context, interaction, account)
  return seeOther(location, cookies)
}

/** Signs the browser in, whose user has given all that it takes. */
export async function startSession(
  context: AppContext,
  interaction: InteractionRequest,
  account: ProvenPassword & {
    readonly secondFactor?: SecondFactor
    /** A password when left out. */
    readonly method?: 'passkey'
  },
): Promise<{ readonly location: string; readonly cookies: readonly string[] }> {
  const { site, pool, origin, request, authorization, remember } = interaction
  const proof = { method: 'password', ...account, replaces: readSession(request, pool) } as const
  const attempt = { site, origin, request: authorization }
  const { next, session, email } = await context.signIns.complete(attempt, proof)
  const cookies = [sessionCookie(pool, session), remember(email)]
  return { location: locationOf(interaction, next), cookies }
}
