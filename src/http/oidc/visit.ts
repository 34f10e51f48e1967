import type { AppContext } from '#context'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { poolScope } from './cookies.ts'
import { type CsrfSession, csrfSession } from './csrf.ts'
import { type Flow, Flows } from './flow.ts'
import { authorizationErrorPage } from './pages/authorization-error-page.ts'
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

export type PageName =
  | 'login'
  | 'signup'
  | 'confirmUser'
  | 'forgotPassword'
  | 'confirmForgotPassword'
  | 'oauth2/authorize'

/** Opens visits. Nothing of one is kept here: every page carries the client's request, and it is checked each time. */
export class Visits {
  readonly #context: AppContext
  readonly #formKey: Uint8Array
  readonly #flows: Flows

  constructor(context: AppContext) {
    this.#context = context
    this.#formKey = context.sealer.derive('sign-in-forms')
    this.#flows = new Flows(context.sealer.derive('sign-in-flows'), context.clock)
  }

  /** The visit, or the answer to a client's request that may not be served. */
  async open(site: Site, userPoolId: string, request: Request): Promise<Visit | Response> {
    const pool = await this.#context.pools.byId(site, userPoolId)
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
