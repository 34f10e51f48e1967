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
    const { hint, target, state } = asked
    const sub = hint === undefined ? undefined : await this.#hints.subOf(site, pool, hint)
    const fault = FAULTS.find(({ is }) => is(pool, { ...asked, sub }))
    if (fault) return refused(fault.description)
    if (clientIdOf(pool, { ...asked, sub }) === undefined) return { kind: 'unasked' }
    return { kind: 'valid', location: target && withState(target, state), sub }
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

type Hinted = AskedLogout & { readonly sub: string | undefined }

/** An id token of ours is always of the default client. */
const clientIdOf = (pool: Pool, { clientId, sub }: Hinted): string | undefined =>
  clientId ?? (sub === undefined ? undefined : pool.clientId)

/** An id token whose keys are gone says nothing, and takes nothing away where the client names itself. */
const FAULTS: readonly {
  readonly description: string
  readonly is: (pool: Pool, asked: Hinted) => boolean
}[] = [
  {
    description: 'id_token_hint is no id token of this issuer',
    is: (_, { hint, sub, clientId }) =>
      hint !== undefined && sub === undefined && clientId === undefined,
  },
  {
    description: 'There is no such client here',
    is: ({ clients }, { clientId }) => clientId !== undefined && !clients.has(clientId),
  },
  {
    description: 'id_token_hint is of another client',
    is: (pool, { sub, clientId = pool.clientId }) =>
      sub !== undefined && clientId !== pool.clientId,
  },
  {
    description: 'client_id or id_token_hint is needed to return to an address',
    is: (pool, asked) => asked.target !== undefined && clientIdOf(pool, asked) === undefined,
  },
  {
    description: 'The address to return to is not one that the client has registered',
    is: (pool, asked) =>
      asked.target !== undefined &&
      !pool.clients.get(clientIdOf(pool, asked) ?? '')?.logoutUris.includes(asked.target),
  },
]

const refused = (description: string): LogoutCheck => ({ kind: 'refused', description })

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
