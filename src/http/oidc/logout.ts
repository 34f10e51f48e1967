import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { LogoutCheck } from '#identity/sessions/logouts.ts'
import type { Site } from '#sites/site.ts'

import { poolScope } from './cookies.ts'
import { CSRF_FIELD, type FormVisitor, cameFrom, formVisitor } from './csrf.ts'
import { formOf } from './form-body.ts'
import { formTargetOf } from './form-targets.ts'
import { NO_FAULTS } from './pages/faults.ts'
import { formPage } from './pages/form.ts'
import { html } from './pages/html.ts'
import { refusedPage } from './pages/refused-page.ts'
import { seeOther } from './see-other.ts'
import { clearedSession, readSession } from './session-cookie.ts'
import { signedOutPage } from './signed-out.ts'

const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })
/** Of the form of another site, as an address: longer ones get lost on the way. */
const MAX_QUERY = 8192
const OPEN = 'Ends the sign-in of the browser that comes, and of no other'

interface Leaving {
  readonly site: Site
  readonly pool: Pool
  readonly request: Request
}

/** Cognito's `/logout`, and OpenID Connect RP-Initiated Logout. */
export const logoutRoutes = (context: AppContext) => {
  const formKey = context.sealer.derive('sign-in-forms')
  const visitorOf = ({ request, pool }: Leaving): FormVisitor =>
    formVisitor(formKey, request, `${pool.issuer}/logout`, poolScope(pool))
  return new Elysia({ prefix: '/oidc/:userPoolId/logout' })
    .use(publicSite(context))
    .get(
      '/',
      async ({ site, params, request }) => {
        const pool = await context.pools.byId(site, params.userPoolId)
        return leave(context, { site, pool, request }, visitorOf)
      },
      { open: OPEN, params: PoolPath },
    )
    .post(
      '/',
      async ({ site, params, request }) => {
        const pool = await context.pools.byId(site, params.userPoolId)
        const leaving = { site, pool, request }
        const fields = await formOf(request)
        if (cameFrom(visitorOf(leaving), fields)) return confirmed(context, leaving)
        // A form of another site brings no cookie; the browser brings it when it comes again by itself.
        fields.delete(CSRF_FIELD)
        const query = fields.toString()
        if (query.length > MAX_QUERY)
          throw invalid('body', `is longer than ${MAX_QUERY} characters`)
        return seeOther(pathWith(pool, query))
      },
      { open: OPEN, params: PoolPath, parse: 'none' },
    )
}

async function leave(
  context: AppContext,
  leaving: Leaving,
  visitorOf: (leaving: Leaving) => FormVisitor,
): Promise<Response> {
  const { site, pool, request } = leaving
  const session = await context.sessions.find(site, pool, readSession(request, pool))
  const check = await checkOf(context, leaving, session?.sub)
  if (check.kind === 'refused') return refusal(leaving, check)
  return check.kind === 'valid'
    ? signOut(context, leaving, check.location)
    : confirmPage(leaving, visitorOf(leaving), check)
}

/** The user has said yes to the request that the page was about. */
async function confirmed(context: AppContext, leaving: Leaving): Promise<Response> {
  const check = await checkOf(context, leaving, undefined)
  return check.kind === 'refused'
    ? refusal(leaving, check)
    : signOut(context, leaving, check.location)
}

const checkOf = (
  { logouts }: AppContext,
  { site, pool, request }: Leaving,
  signedIn: string | undefined,
): Promise<LogoutCheck> => logouts.check(site, pool, new URL(request.url).searchParams, signedIn)

const refusal = (
  { site, request }: Leaving,
  { description }: { readonly description: string },
): Response => refusedPage(site, { error: 'invalid_request', description }, request)

async function signOut(
  context: AppContext,
  { site, pool, request }: Leaving,
  location: string | undefined,
): Promise<Response> {
  const token = readSession(request, pool)
  if (token !== undefined) await context.sessions.end(site, pool, token, originOf(request))
  const cookies = [clearedSession(pool)]
  return location === undefined ? signedOutPage(site, cookies) : seeOther(location, cookies)
}

const pathWith = ({ issuer }: Pool, query: string): string =>
  `${new URL(issuer).pathname}/logout${query === '' ? '' : `?${query}`}`

const confirmPage = (
  { site, pool }: Leaving,
  visitor: FormVisitor,
  { location, query }: { readonly location: string | undefined; readonly query: string },
): Response =>
  formPage({
    title: 'Sign out',
    site,
    lead: html`You are signed in to <b>${site.domain}</b> on this browser.`,
    csrfToken: visitor.token,
    cookies: visitor.cookies,
    action: pathWith(pool, query),
    formTargets: location === undefined ? [] : [formTargetOf(location)],
    fields: [],
    submit: 'Sign out',
    faults: NO_FAULTS,
  })
