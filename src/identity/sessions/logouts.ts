import type { IdTokenHints } from '#identity/authorization/id-token-hints.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { Sessions } from './service.ts'

const MAX_STATE = 2048

/** What a client asks of `/logout`: in Cognito's words, or in those of OpenID Connect RP-Initiated Logout 1.0. */
export type LogoutCheck =
  | {
      readonly kind: 'valid'
      /** Where the browser goes; undefined for a page of ours. */
      readonly location: string | undefined
      /** Whom the client wants out; undefined for whoever is signed in. */
      readonly sub: string | undefined
    }
  /** No client stands behind the request: the user has to be asked. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'refused'; readonly description: string }

/** Signs browsers out for clients, and sends them to addresses that the client has registered, nowhere else. */
export class Logouts {
  readonly #sessions: Sessions
  readonly #hints: IdTokenHints

  constructor(deps: { sessions: Sessions; hints: IdTokenHints }) {
    this.#sessions = deps.sessions
    this.#hints = deps.hints
  }

  async check(site: Site, pool: Pool, params: URLSearchParams): Promise<LogoutCheck> {
    const asked = askedOf(params)
    if (!asked) return refused('A parameter is there more than once, or is too long')
    const { clientId, hint, target, state } = asked
    const sub = hint === undefined ? undefined : await this.#hints.subOf(site, pool, hint)
    if (hint !== undefined && sub === undefined && clientId === undefined) {
      return refused('id_token_hint is no id token of this issuer')
    }
    // An id token of ours is always of the default client.
    const named = clientId ?? (sub === undefined ? undefined : pool.clientId)
    if (named === undefined) return target === undefined ? { kind: 'unasked' } : NO_CLIENT
    const client = pool.clients.get(named)
    if (!client) return refused('There is no such client here')
    if (sub !== undefined && named !== pool.clientId) {
      return refused('id_token_hint is of another client')
    }
    if (target === undefined) return { kind: 'valid', location: undefined, sub }
    if (!client.logoutUris.includes(target)) {
      return refused('The address to return to is not one that the client has registered')
    }
    return { kind: 'valid', location: withState(target, state), sub }
  }

  /** Says whether the browser is signed out now; it is not when another user is signed in than the client meant. */
  async end(
    site: Site,
    pool: Pool,
    browser: { readonly token: string | undefined; readonly sub: string | undefined },
    origin: RequestOrigin,
  ): Promise<boolean> {
    const { token, sub } = browser
    if (token === undefined) return true
    const session = sub === undefined ? undefined : await this.#sessions.find(site, pool, token)
    if (session && session.sub !== sub) return false
    await this.#sessions.end(site, pool, token, origin)
    return true
  }
}

interface AskedLogout {
  readonly clientId: string | undefined
  readonly hint: string | undefined
  readonly target: string | undefined
  readonly state: string | undefined
}

const refused = (description: string): LogoutCheck => ({ kind: 'refused', description })
const NO_CLIENT = refused('client_id or id_token_hint is needed to return to an address')

function askedOf(params: URLSearchParams): AskedLogout | undefined {
  const names = ['client_id', 'id_token_hint', 'state', 'logout_uri', 'post_logout_redirect_uri']
  const values = names.map((name) => params.getAll(name).filter((value) => value !== ''))
  if (values.some((given) => given.length > 1)) return undefined
  const [clientId, hint, state, logoutUri, redirectUri] = values.map(([value]) => value)
  if (logoutUri !== undefined && redirectUri !== undefined) return undefined
  if (state !== undefined && state.length > MAX_STATE) return undefined
  return { clientId, hint, state, target: logoutUri ?? redirectUri }
}

const withState = (target: string, state: string | undefined): string =>
  state === undefined
    ? target
    : `${target}${target.includes('?') ? '&' : '?'}${new URLSearchParams({ state }).toString()}`
