import type { Pool } from '#identity/pools/model.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import type { Site } from '#sites/site.ts'

const MAX_STATE = 2048

/** The check of a request to `/logout`, in Cognito's form or that of OpenID Connect RP-Initiated Logout 1.0. */
export type LogoutCheck =
  /** The browser is redirected to `location`; undefined for a page of ours. */
  | { readonly kind: 'valid'; readonly location: string | undefined }
  /** The request may be forged, or is about another user: the user has to confirm a form that sends `query`. */
  | { readonly kind: 'to-confirm'; readonly location: string | undefined; readonly query: string }
  | { readonly kind: 'refused'; readonly description: string }

/** Whether browsers may be signed out for a client, and which of the client's addresses they go to then. */
export class LogoutRequests {
  readonly #verifier: TokenVerifier

  constructor(deps: { verifier: TokenVerifier }) {
    this.#verifier = deps.verifier
  }

  /** `signedIn` is the user of the browser's session; undefined without one. */
  async check(
    site: Site,
    pool: Pool,
    params: URLSearchParams,
    signedIn: string | undefined,
  ): Promise<LogoutCheck> {
    const words = parseLogoutParameters(params)
    if (!words) return refused('A parameter is there more than once, or is too long')
    const { hint, target, state } = words
    const hinted = hint === undefined ? undefined : await this.#verifier.hinted(site, pool, hint)
    const logout = { ...words, hinted }
    const fault = CHECKS.find(({ is }) => is(pool, logout))
    if (fault) return refused(fault.description)
    const location = target && withState(target, state)
    return signedIn === undefined || isMeant(logout, signedIn)
      ? { kind: 'valid', location }
      : { kind: 'to-confirm', location, query: queryOf(logout) }
  }
}

interface LogoutParameters {
  readonly uiLocales: string | undefined
  readonly clientId: string | undefined
  readonly hint: string | undefined
  readonly target: string | undefined
  readonly state: string | undefined
  readonly isOfCognito: boolean
}

type HintedLogout = LogoutParameters & {
  readonly hinted: { readonly sub: string; readonly clientId: string } | undefined
}

const clientIdOf = ({ clientId, hinted }: HintedLogout): string | undefined =>
  clientId ?? hinted?.clientId

/** Without a valid hint, only requests in Cognito's form need no confirmation, as its clients expect. */
const isMeant = ({ hinted, isOfCognito }: HintedLogout, signedIn: string): boolean =>
  hinted === undefined ? isOfCognito : hinted.sub === signedIn

/** The same request without its hint, which has been checked already. */
function queryOf(logout: HintedLogout): string {
  const { target, state, uiLocales } = logout
  const clientId = clientIdOf(logout)
  const query = new URLSearchParams()
  if (target !== undefined && clientId !== undefined) {
    query.set('client_id', clientId)
    query.set('post_logout_redirect_uri', target)
    if (state !== undefined) query.set('state', state)
  }
  if (uiLocales !== undefined) query.set('ui_locales', uiLocales)
  return query.toString()
}

/** A hint that cannot be verified any more is ignored when `client_id` names the client. */
const CHECKS: readonly {
  readonly description: string
  readonly is: (pool: Pool, logout: HintedLogout) => boolean
}[] = [
  {
    description: 'id_token_hint is no id token of this issuer',
    is: (_, { hint, hinted, clientId }) =>
      hint !== undefined && hinted === undefined && clientId === undefined,
  },
  {
    description: 'There is no such client here',
    is: ({ clients }, { clientId }) => clientId !== undefined && !clients.has(clientId),
  },
  {
    description: 'id_token_hint is of another client',
    is: (_, { hinted, clientId }) =>
      hinted !== undefined && clientId !== undefined && clientId !== hinted.clientId,
  },
  {
    description: 'client_id or id_token_hint is needed to return to an address',
    is: (_, logout) => logout.target !== undefined && clientIdOf(logout) === undefined,
  },
  {
    description: 'The address to return to is not one that the client has registered',
    is: (pool, logout) =>
      logout.target !== undefined &&
      !pool.clients.get(clientIdOf(logout) ?? '')?.logoutUris.includes(logout.target),
  },
]

const refused = (description: string): LogoutCheck => ({ kind: 'refused', description })

const PARAMETERS = [
  'client_id',
  'id_token_hint',
  'state',
  'logout_uri',
  'post_logout_redirect_uri',
  'ui_locales',
]

function parseLogoutParameters(params: URLSearchParams): LogoutParameters | undefined {
  const values = PARAMETERS.map((name) => params.getAll(name).filter((value) => value !== ''))
  if (values.some((given) => given.length > 1)) return undefined
  const [clientId, hint, state, logoutUri, redirectUri, uiLocales] = values.map(([value]) => value)
  if (logoutUri !== undefined && redirectUri !== undefined) return undefined
  if (state !== undefined && state.length > MAX_STATE) return undefined
  const isOfCognito = logoutUri !== undefined
  return { clientId, hint, state, uiLocales, target: logoutUri ?? redirectUri, isOfCognito }
}

const withState = (target: string, state: string | undefined): string =>
  state === undefined
    ? target
    : `${target}${target.includes('?') ? '&' : '?'}${new URLSearchParams({ state }).toString()}`
