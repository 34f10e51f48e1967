import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { publicSite } from '#http/plugins/site.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { poolScope } from './cookies.ts'
import { type CsrfSession, csrfSession, hasCsrfToken, readSameOriginForm } from './csrf.ts'
import { type Flow, Flows } from './flow.ts'
import { authorizationErrorPage } from './pages/error-page.ts'
import { EXPIRED_FORM, formErrorsOf } from './pages/form-errors.ts'
import { EMPTY_FORM, type FormState } from './pages/form.ts'
import { seeOther } from './see-other.ts'

const FLOW = 'flow'

/** A browser on one page of the sign-in, with the client's request that it came for. */
export interface Visit {
  readonly site: Site
  readonly pool: Pool
  readonly authorization: AuthorizationRequest
  readonly flow: Flow | undefined
  readonly csrf: CsrfSession
  readonly request: Request
  /** Where another page of this sign-in is, with what that page has to know. */
  pathTo(page: PageName, flow?: Flow): string
}

type PageName =
  | 'login'
  | 'signup'
  | 'confirmUser'
  | 'forgotPassword'
  | 'confirmForgotPassword'
  | 'oauth2/authorize'

/** Opens visits. Nothing of one is kept here: every page carries the client's request, and it is checked each time. */
class Visits {
  readonly #formKey: Uint8Array
  readonly #flows: Flows

  constructor({ sealer, clock }: AppContext) {
    this.#formKey = sealer.derive('sign-in-forms')
    this.#flows = new Flows(sealer.derive('sign-in-flows'), clock)
  }

  /** The visit, or the answer to a client's request that may not be served. */
  open({ site, pool, request }: Pick<Visit, 'site' | 'pool' | 'request'>): Visit | Response {
    const params = new URL(request.url).searchParams
    const sealedFlow = params.get(FLOW)
    params.delete(FLOW)
    const check = checkAuthorization(pool, params)
    if (check.kind === 'error-page') return authorizationErrorPage(site, check, request)
    if (check.kind === 'error-redirect') return seeOther(check.location)

    const { pathname } = new URL(pool.issuer)
    const { client, query } = check.request
    // Made for linking a provider to an account that is signed in: no page of ours has a part in that.
    if (client.purpose === 'link') return seeOther(`${pathname}/oauth2/authorize?${query}`)
    const csrf = csrfSession(this.#formKey, request, pool.issuer, poolScope(pool))
    const browser = `${pool.issuer}\n${csrf.secret}`
    const flow = sealedFlow === null ? undefined : this.#flows.open(sealedFlow, browser)
    return {
      site,
      pool,
      authorization: check.request,
      flow,
      csrf,
      request,
      pathTo: (page, next) => {
        const suffix = next ? `&${FLOW}=${this.#flows.seal(next, browser)}` : ''
        return `${pathname}/${page}?${query}${suffix}`
      },
    }
  }
}

/** One page of the sign-in: what it shows, and what its form does. */
interface SignInForm {
  readonly name: PageName
  /** Why anyone may come. */
  readonly open: string
  /** Also shows the form again, with what was wrong. */
  show(visit: Visit, form: FormState): Response
  /** Fails with an `AppError` that the form can show, or with another one. */
  submit(visit: Visit, fields: URLSearchParams): Promise<Response>
}

/** GET and POST of one page. */
export const signInFormRoutes = (context: AppContext, form: SignInForm) => {
  const visits = new Visits(context)
  const prefix: string = `/oidc/:userPoolId/${form.name}`
  return new Elysia({ prefix })
    .use(publicSite(context))
    .get(
      '/',
      async ({ site, pool, request }) => {
        const visit = visits.open({ site, pool, request })
        return visit instanceof Response ? visit : form.show(visit, EMPTY_FORM)
      },
      { openPool: form.open, params: PoolPath },
    )
    .post(
      '/',
      async ({ site, pool, request }) => {
        const visit = visits.open({ site, pool, request })
        return visit instanceof Response ? visit : submitted(form, visit)
      },
      { openPool: form.open, params: PoolPath },
    )
}

async function submitted(form: SignInForm, visit: Visit): Promise<Response> {
  const fields = await readSameOriginForm(visit.request, new URL(visit.pool.issuer).origin)
  if (!hasCsrfToken(visit.csrf, fields))
    return form.show(visit, { typed: fields, errors: EXPIRED_FORM })
  try {
    return await form.submit(visit, fields)
  } catch (error) {
    return form.show(visit, { typed: fields, errors: formErrorsOf(error) })
  }
}
