import { AppError } from '#base/app-error.ts'
import type { SecondFactor } from '#identity/second-factors/service.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Session } from '#identity/sessions/model.ts'
import type { SessionStart, Sessions } from '#identity/sessions/service.ts'
import { lockAccountForNewSignIn } from '#identity/sessions/session-accounts.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type AuthorizationRequest,
  type AuthorizationError,
  type LoginAttempt,
  isLinkRequest,
} from './authorization-request.ts'
import type { AuthorizationCodes, CodeSubject } from './codes.ts'
import { codeLocation, errorLocation } from './response-location.ts'

/** The proof with which a user has just signed in. */
export interface SignInProof extends SessionStart {
  readonly method: 'password' | 'google' | 'passkey'
  /** What was asked for beside the password. */
  readonly secondFactor?: SecondFactor | undefined
}

export interface SignedIn {
  /** The client's redirect URI with the code. */
  readonly location: string
  /** For the browser's cookie. */
  readonly session: { readonly token: string; readonly expiresAt: Date }
  /** The account's address. */
  readonly email: string
}

interface SignInsDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly sessions: Sessions
  readonly codes: AuthorizationCodes
  readonly verifier: TokenVerifier
  readonly events: SecurityEvents
}

/** Answers authorization requests of signed-in users with codes. */
export class SignIns {
  readonly #deps: SignInsDeps

  constructor(deps: SignInsDeps) {
    this.#deps = deps
  }

  /**
   * Returns the client's redirect URI when no page has to be shown: with a code when the browser's session suffices, with
   * an error when no page may be shown (`prompt=none`). Undefined when the user has to sign in.
   */
  async resume(
    site: Site,
    request: AuthorizationRequest,
    sessionToken: string | undefined,
  ): Promise<string | undefined> {
    const expected = await this.#expected(site, request)
    if (expected === 'unknown') return errorLocation(request, BAD_HINT)
    if (sessionToken !== undefined && mayUseSession(request)) {
      const location = await this.#resumed(site, request, { sessionToken, expected })
      if (location !== undefined) return location
    }
    return request.prompts.has('none') ? errorLocation(request, LOGIN_REQUIRED) : undefined
  }

  /**
   * Starts the session and issues the code. 401 when the account was deleted, or signed out everywhere, after the proof
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
        detail: {
          method: proof.method,
          ...(proof.secondFactor !== undefined && { secondFactor: proof.secondFactor }),
        },
      })
      const location = refusal
        ? errorLocation(request, refusal)
        : await this.#location(tx, request, { ...proof, ...session })
      return { location, session, email: account.email }
    })
  }

  /** The error when the user or the method is not what the client requested. */
  async #refusalOf(
    site: Site,
    request: AuthorizationRequest,
    { sub, method }: SignInProof,
  ): Promise<AuthorizationError | undefined> {
    if (request.client.purpose === 'link' && method !== 'google') return NOTHING_LINKED
    const expected = await this.#expected(site, request)
    return expected === 'anyone' || expected === sub ? undefined : ANOTHER_USER
  }

  /** The `sub` that `id_token_hint` names. */
  async #expected(site: Site, { pool, idTokenHint }: AuthorizationRequest): Promise<string> {
    if (idTokenHint === undefined) return 'anyone'
    return (await this.#deps.verifier.hinted(site, pool, idTokenHint))?.sub ?? 'unknown'
  }

  /** The client's redirect URI for a session that satisfies the request. */
  #resumed(
    site: Site,
    request: AuthorizationRequest,
    { sessionToken, expected }: { readonly sessionToken: string; readonly expected: string },
  ): Promise<string | undefined> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const session = await this.#deps.sessions.hold(tx, request.pool, sessionToken)
      if (!session || !sessionSatisfies(session, request, this.#deps.clock.now())) return undefined
      if (expected !== 'anyone' && expected !== session.sub) return undefined
      return this.#location(tx, request, session)
    })
  }

  /** With a code, but for the account's page: it reads the session itself. */
  async #location(
    tx: SiteTx,
    request: AuthorizationRequest,
    subject: CodeSubject,
  ): Promise<string> {
    if (request.client.purpose === 'account') return request.redirectUri
    return codeLocation(request, await this.#deps.codes.issue(tx, request, subject))
  }
}

const BAD_HINT: AuthorizationError = {
  error: 'invalid_request',
  description: 'id_token_hint is no id token of this issuer',
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
  'prompts' | 'maxAgeSeconds' | 'identityProvider' | 'client' | 'linkTicket'
>

/** Whether a session may answer the request. Linking always takes a sign-in at the provider. */
const mayUseSession = ({
  prompts,
  ...request
}: Pick<ResumableRequest, 'prompts' | 'client' | 'linkTicket'>): boolean =>
  !isLinkRequest(request) && !prompts.has('login') && !prompts.has('select_account')

/** Whether the session is recent enough, and from the provider that the client requested. */
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
