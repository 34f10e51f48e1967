import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Session } from '#identity/sessions/model.ts'
import type { SessionStart, Sessions } from '#identity/sessions/service.ts'
import { lockAccountForNewSignIn } from '#identity/sessions/session-accounts.ts'
import type { IdTokenHints } from '#identity/tokens/id-token-hints.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type {
  AuthorizationRequest,
  AuthorizationError,
  LoginAttempt,
} from './authorization-request.ts'
import type { AuthorizationCodes } from './codes.ts'
import { codeLocation, errorLocation } from './response-location.ts'

/** How a user has just proven who they are. */
export interface SignInProof extends SessionStart {
  readonly method: 'password' | 'google'
}

export interface SignedIn {
  /** At the client, with the code. */
  readonly location: string
  /** For the browser's cookie. */
  readonly session: { readonly token: string; readonly expiresAt: Date }
}

interface SignInsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly sessions: Sessions
  readonly codes: AuthorizationCodes
  readonly hints: IdTokenHints
  readonly events: SecurityEvents
}

/** Turns an authorization request into a code, once it is known who the user is. */
export class SignIns {
  readonly #deps: SignInsDeps

  constructor(deps: SignInsDeps) {
    this.#deps = deps
  }

  /**
   * Where the browser goes without being asked anything: to the client, with a code when its session is good enough, with
   * an error when nothing may be asked (`prompt=none`). Undefined when the user has to sign in.
   */
  async resume(
    site: Site,
    request: AuthorizationRequest,
    sessionToken: string | undefined,
  ): Promise<string | undefined> {
    const expected = await this.#expected(site, request)
    if (expected === 'unknown') return errorLocation(request, BAD_HINT)
    if (sessionToken !== undefined && mayUseSession(request)) {
      const code = await this.#codeOfSession(site, request, { sessionToken, expected })
      if (code !== undefined) return codeLocation(request, code)
    }
    return request.prompts.has('none') ? errorLocation(request, LOGIN_REQUIRED) : undefined
  }

  /**
   * Session, code and event in one transaction. 401 when the account went, or was signed out everywhere, since the proof
   * was begun.
   */
  async complete({ site, request, origin }: LoginAttempt, proof: SignInProof): Promise<SignedIn> {
    const { pool, client } = request
    const refusal = await this.#refusalOf(site, request, proof)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const account = await lockAccountForNewSignIn(tx, pool, proof)
      if (!account) throw new AppError('InvalidCredentials', 'That did not work: sign in again')
      const session = await this.#deps.sessions.start(tx, pool, proof, origin)
      await this.#deps.events.record(tx, {
        event: 'sign-in.succeeded',
        pool: pool.kind,
        sub: account.sub,
        email: account.email,
        clientId: client.clientId,
        origin,
        detail: { method: proof.method },
      })
      const location = refusal
        ? errorLocation(request, refusal)
        : codeLocation(request, await this.#deps.codes.issue(tx, request, { ...proof, ...session }))
      return { location, session }
    })
  }

  /** What is wrong with a sign-in that succeeded: it is not the one that the client asked for. */
  async #refusalOf(
    site: Site,
    request: AuthorizationRequest,
    { sub, method }: SignInProof,
  ): Promise<AuthorizationError | undefined> {
    if (request.client.purpose === 'link' && method !== 'google') return NOTHING_LINKED
    const expected = await this.#expected(site, request)
    return expected === 'anyone' || expected === sub ? undefined : ANOTHER_USER
  }

  /** Whom `id_token_hint` names. */
  async #expected(site: Site, { pool, idTokenHint }: AuthorizationRequest): Promise<string> {
    if (idTokenHint === undefined) return 'anyone'
    return (await this.#deps.hints.subOf(site, pool, idTokenHint)) ?? 'unknown'
  }

  #codeOfSession(
    site: Site,
    request: AuthorizationRequest,
    { sessionToken, expected }: { readonly sessionToken: string; readonly expected: string },
  ): Promise<string | undefined> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const session = await this.#deps.sessions.hold(tx, request.pool, sessionToken)
      if (!session || !sessionSatisfies(session, request, this.#deps.clock.now())) return undefined
      if (expected !== 'anyone' && expected !== session.sub) return undefined
      return this.#deps.codes.issue(tx, request, session)
    })
  }
}

const BAD_HINT: AuthorizationError = {
  error: 'invalid_request',
  description: 'id_token_hint is no id token of this issuer for this client',
}
const LOGIN_REQUIRED: AuthorizationError = {
  error: 'login_required',
  description: 'The user has to sign in',
}
const NOTHING_LINKED: AuthorizationError = {
  error: 'unauthorized_client',
  description: 'The client exists for linking a provider only',
}
const ANOTHER_USER: AuthorizationError = {
  error: 'login_required',
  description: 'Another user signed in than id_token_hint names',
}

type ResumableRequest = Pick<
  AuthorizationRequest,
  'prompts' | 'maxAgeSeconds' | 'identityProvider' | 'client'
>

/** Whether a request can be answered from a session at all. Linking a provider never is: it is about a visit there. */
const mayUseSession = ({
  prompts,
  client,
}: Pick<ResumableRequest, 'prompts' | 'client'>): boolean =>
  client.purpose === 'default' && !prompts.has('login') && !prompts.has('select_account')

/** Whether the session says enough: recent enough, and proven where the client wants it proven. */
function sessionSatisfies(
  session: Pick<Session, 'authTime' | 'method'>,
  { maxAgeSeconds, identityProvider }: Pick<ResumableRequest, 'maxAgeSeconds' | 'identityProvider'>,
  now: Date,
): boolean {
  const ageMs = now.getTime() - session.authTime.getTime()
  if (maxAgeSeconds !== undefined && (maxAgeSeconds === 0 || ageMs > maxAgeSeconds * 1000)) {
    return false
  }
  return identityProvider === undefined || session.method === 'google'
}
