import { Elysia } from 'elysia'

import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { type PoolPageRequest, keepAlone, pages } from '#http/plugins/pages.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { LogoutCheck } from '#identity/sessions/logout-requests.ts'
import { t } from '#languages/message.ts'
import { siteBaseUrl } from '#sites/base-url.ts'

import { poolScope } from './cookies.ts'
import { CSRF_FIELD, type CsrfSession, csrfSession, hasCsrfToken } from './csrf.ts'
import { readForm } from './form-body.ts'
import { formTargetOf } from './form-targets.ts'
import { FORMER_LOGOUT, type FormerLogout, FormerLogouts } from './former-logouts.ts'
import { authorizationErrorPage } from './pages/error-page.ts'
import { NO_ERRORS } from './pages/form-errors.ts'
import { formPage } from './pages/form.ts'
import { signedOutPage } from './pages/signed-out-page.ts'
import { seeOther } from './see-other.ts'
import { clearedSession, readSession } from './session-cookie.ts'
import { signedOutCookie } from './signed-out.ts'

/** The longest query of another site's form that is turned into a URL: longer ones fail at proxies. */
const MAX_QUERY = 8192
const GATE = {
  open: 'Ends the sign-in of the browser that comes, and of no other',
  foreignForms: true,
  popups: true,
} as const

const FORMER_GATE = { open: GATE.open, popups: true } as const

/** Cognito's `/logout`, and OpenID Connect RP-Initiated Logout. */
export const logoutRoutes = (context: AppContext) => {
  const formKey = context.sealer.derive('sign-in-forms')
  const csrfOf = ({ request, pool }: PoolPageRequest): CsrfSession =>
    csrfSession(formKey, request, `${pool.issuer}/logout`, poolScope(pool))
  return new Elysia({ prefix: '/oidc/:userPoolId/logout' })
    .use(pages(context))
    .get('/', async ({ poolRequest }) => logout(context, poolRequest, csrfOf), {
      poolPage: GATE,
      params: PoolPath,
    })
    .post(
      '/',
      async ({ poolRequest }) => {
        const fields = await readForm(poolRequest.request)
        if (hasCsrfToken(csrfOf(poolRequest), fields)) return confirmLogout(context, poolRequest)
        // A form of another site is sent without our cookies; the redirect that follows is sent with them.
        fields.delete(CSRF_FIELD)
        const query = fields.toString()
        if (query.length > MAX_QUERY)
          throw invalid('body', `is longer than ${MAX_QUERY} characters`)
        return seeOther(pathWith(poolRequest.pool, query))
      },
      { poolPage: GATE, changes: { audit: 'page', effects: [] }, params: PoolPath },
    )
}

async function logout(
  context: AppContext,
  poolRequest: PoolPageRequest,
  csrfOf: (poolRequest: PoolPageRequest) => CsrfSession,
): Promise<Response> {
  const { site, pool, request } = poolRequest
  const session = await context.sessions.find(site, pool, readSession(request, pool))
  const check = await checkLogout(context, poolRequest, session?.sub)
  if (check.kind === 'refused') return refusal(poolRequest, check)
  return check.kind === 'valid'
    ? signOut(context, poolRequest, check.location)
    : confirmPage(context, poolRequest, { csrf: csrfOf(poolRequest), check })
}

/** The user has confirmed the request of the page. */
async function confirmLogout(context: AppContext, poolRequest: PoolPageRequest): Promise<Response> {
  const check = await checkLogout(context, poolRequest, undefined)
  return check.kind === 'refused'
    ? refusal(poolRequest, check)
    : signOut(context, poolRequest, check.location)
}

async function checkLogout(
  { logouts }: AppContext,
  { site, pool, request }: PoolPageRequest,
  signedIn: string | undefined,
): Promise<LogoutCheck> {
  const params = new URL(request.url).searchParams
  return params.has('response_type')
    ? signInAgain(pool, params)
    : logouts.check(site, pool, params, signedIn)
}

/** Cognito's other form has an authorization request: the browser comes to the page that signs a user in for it. */
function signInAgain(pool: Pool, params: URLSearchParams): LogoutCheck {
  const check = checkAuthorization(pool, params)
  if (check.kind === 'error-page') return { kind: 'refused', description: check.description }
  const location =
    check.kind === 'valid'
      ? `${new URL(pool.issuer).pathname}/login?${check.request.query}`
      : check.location
  return { kind: 'valid', location }
}

const refusal = (
  poolRequest: PoolPageRequest,
  { description }: { readonly description: string },
): Response => authorizationErrorPage(poolRequest, { error: 'invalid_request', description })

async function signOut(
  context: AppContext,
  poolRequest: PoolPageRequest,
  location: string | undefined,
): Promise<Response> {
  const { pool, request } = poolRequest
  const token = readSession(request, pool)
  if (token !== undefined) await context.sessions.end(poolRequest, token)
  const names = [...namesOfBefore(poolRequest)]
  return signedOut(context, poolRequest, { location: location ?? null, names })
}

/** Where visitors may have signed in before. */
const namesOfBefore = ({ site, pool }: PoolPageRequest): readonly string[] =>
  pool.kind === 'data' ? site.formerAuthDomains : []

/** Ends the sign-in of the browser on a former name, and leads on. */
export const formerLogoutRoutes = (context: AppContext) => {
  const logouts = new FormerLogouts(context)
  return new Elysia({ prefix: '/oidc/:userPoolId/logout/former' }).use(pages(context)).get(
    '/',
    async ({ poolRequest }) => {
      const { pool, request } = poolRequest
      const rest = logouts.open(pool, new URL(request.url).searchParams.get(FORMER_LOGOUT))
      if (!rest) throw new AppError('LinkExpired', t('error.whole-link'))
      const token = readSession(request, pool)
      if (token !== undefined) await context.sessions.end(poolRequest, token)
      return signedOut(context, poolRequest, rest)
    },
    { poolPage: FORMER_GATE, params: PoolPath },
  )
}

/** Leads on to the names where the browser may have signed in before, and to where the client wants it at last. */
function signedOut(
  context: AppContext,
  poolRequest: PoolPageRequest,
  { location, names: [next, ...names] }: FormerLogout,
): Response {
  const { pool } = poolRequest
  const cookies = [clearedSession(pool)]
  if (next !== undefined) {
    const former = new FormerLogouts(context).url(pool, next, { location, names })
    return seeOther(former, cookies)
  }
  const { config, clock } = context
  if (location === null) return signedOutPage(poolRequest, config.baseUrl, cookies)
  return seeOther(location, [...cookies, ...signedOutCookie(pool, location, clock.now())])
}

const pathWith = ({ issuer }: Pool, query: string): string =>
  `${new URL(issuer).pathname}/logout${query === '' ? '' : `?${query}`}`

function confirmPage(
  { config }: AppContext,
  poolRequest: PoolPageRequest,
  {
    csrf,
    check: { location, query },
  }: {
    readonly csrf: CsrfSession
    readonly check: { readonly location: string | undefined; readonly query: string }
  },
): Response {
  const { site, pool, language } = poolRequest
  keepAlone(poolRequest)
  return formPage({
    title: t('sign-out.title'),
    site,
    language,
    lead: t('sign-out.lead', { site: site.domain }),
    csrfToken: csrf.token,
    cookies: csrf.cookies,
    action: pathWith(pool, query),
    formTargets: [
      ...namesOfBefore(poolRequest).map(
        (name) => new URL(siteBaseUrl(config.baseUrl, name)).origin,
      ),
      ...(location === undefined ? [] : [formTargetOf(location)]),
    ],
    fields: [],
    submit: t('sign-out.title'),
    errors: NO_ERRORS,
  })
}
