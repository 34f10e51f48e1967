import { AppError } from '#base/app-error.ts'
import type { Consents } from '#identity/consents/consents.ts'
import type { SecondFactor } from '#identity/second-factors/second-factors.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Session } from '#identity/sessions/model.ts'
import {
  findSessionAccount,
  lockAccountForNewSignIn,
  rememberLanguage,
} from '#identity/sessions/session-accounts.ts'
import type { SessionStart, Sessions } from '#identity/sessions/sessions.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import { t } from '#languages/message.ts'
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

/** What a browser that is signed in is shown next. */
export type NextStep =
  /** The client's redirect URI, with the code or an error. */
  | { readonly kind: 'client'; readonly location: string }
  /** The page that asks the user about the client. */
  | ({ readonly kind: 'consent' } & ProvenSignIn)

/** A sign-in that was just made for a request, or that it may use. */
interface ProvenSignIn {
  readonly sub: string
  readonly authTime: Date
}

export interface SignedIn {
  readonly next: NextStep
  /** For the browser's cookie. */
  readonly session: { readonly token: string; readonly expiresAt: Date }
  /** The account's address. */
  readonly email: string
}

/** Answers authorization requests of signed-in users with codes. */
export class SignIns {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly sessions: Sessions
      readonly codes: AuthorizationCodes
      readonly consents: Consents
      readonly verifier: TokenVerifier
      readonly events: SecurityEvents
    },
  ) {
    this.#deps = deps
  }

  /**
   * Where the browser goes when no sign-in is needed: to the client with a code when its session suffices, with an error when no
   * page may be shown (`prompt=none`), or to the page for consent. Undefined when the user has to sign in.
   */
  async resume(
    site: Site,
    request: AuthorizationRequest,
    sessionToken: string | undefined,
  ): Promise<NextStep | undefined> {
    const expected = await this.#expected(site, request)
    if (expected === 'unknown') return failed(request, BAD_HINT)
    if (sessionToken !== undefined && mayUseSession(request)) {
      const next = await this.#resumed(site, request, { sessionToken, expected })
      if (next !== undefined) return next
    }
    return request.prompts.has('none') ? failed(request, LOGIN_REQUIRED) : undefined
  }

  /** The user and the address of the session that the page for consent is about; undefined when they have to sign in. */
  async asked(site: Site, request: AuthorizationRequest, answer: ConsentAnswer) {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const session = await this.#sessionFor(tx, request, answer)
      return session && findSessionAccount(tx, request.pool, session.sub)
    })
  }

  /** What the user of the session says to the client: its redirect URI, or undefined when they have to sign in first. */
  async answer(
    site: Site,
    request: AuthorizationRequest,
    answer: ConsentAnswer & { readonly agrees: boolean },
  ): Promise<string | undefined> {
    const expected = await this.#expected(site, request)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const session = await this.#sessionFor(tx, request, answer)
      if (!session) return undefined
      if (expected !== 'anyone' && expected !== session.sub) {
        return errorLocation(request, ANOTHER_USER)
      }
      if (!answer.agrees) return errorLocation(request, DENIED)
      await this.#deps.consents.give(tx, request, session.sub)
      return codeLocation(request, await this.#deps.codes.issue(tx, request, session))
    })
  }

  /** The browser's session, if it was made for the request, or suffices for it. */
  async #sessionFor(
    tx: SiteTx,
    request: AuthorizationRequest,
    { sessionToken, proven }: ConsentAnswer,
  ): Promise<Session | undefined> {
    const session = await this.#deps.sessions.hold(tx, request.pool, sessionToken)
    if (!session || request.client.application?.isThirdParty !== true) return undefined
    const isProven =
      proven?.sub === session.sub && proven.authTime.getTime() === session.authTime.getTime()
    const suffices =
      mayUseSession(request) && sessionSatisfies(session, request, this.#deps.clock.now())
    return isProven || suffices ? session : undefined
  }

  /**
   * Starts the session and issues the code. 401 when the account was deleted, or signed out everywhere, after the proof
   * was begun.
   */
  async complete({ site, request, origin }: LoginAttempt, proof: SignInProof): Promise<SignedIn> {
    const { pool, client } = request
    const refusal = await this.#refusalOf(site, request, proof)
    const { database } = this.#deps
    const { account, ...signedIn } = await database.withSite(site.siteId, async (tx) => {
      const account = await lockAccountForNewSignIn(tx, pool, proof)
      if (!account) throw new AppError('InvalidCredentials', t('error.sign-in-again'))
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
      const next = refusal
        ? failed(request, refusal)
        : await this.#next(tx, request, { ...proof, ...session })
      return { next, session, account }
    })
    const user = { ...account, userPoolId: pool.userPoolId }
    await rememberLanguage(database, site.siteId, user, origin.language)
    return { ...signedIn, email: account.email }
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
  async #expected(
    site: Site,
    { pool, client, idTokenHint }: AuthorizationRequest,
  ): Promise<string> {
    if (idTokenHint === undefined) return 'anyone'
    const hinted = await this.#deps.verifier.hinted(site, pool, idTokenHint)
    // The site's own client gets the id tokens that its other one, and the account's page, are asked with.
    const clientId = client.application === undefined ? pool.clientId : client.clientId
    return hinted?.clientId === clientId ? hinted.sub : 'unknown'
  }

  /** What comes next for a session that satisfies the request. */
  #resumed(
    site: Site,
    request: AuthorizationRequest,
    { sessionToken, expected }: { readonly sessionToken: string; readonly expected: string },
  ): Promise<NextStep | undefined> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const session = await this.#deps.sessions.hold(tx, request.pool, sessionToken)
      if (!session || !sessionSatisfies(session, request, this.#deps.clock.now())) return undefined
      if (expected !== 'anyone' && expected !== session.sub) return undefined
      return this.#next(tx, request, session)
    })
  }

  /** With a code, except for the account's page: it reads the session itself. */
  async #next(tx: SiteTx, request: AuthorizationRequest, subject: CodeSubject): Promise<NextStep> {
    if (request.client.purpose === 'account') {
      return { kind: 'client', location: request.redirectUri }
    }
    const { sub, authTime } = subject
    if (await this.#deps.consents.isNeeded(tx, request, sub)) {
      return request.prompts.has('none')
        ? failed(request, CONSENT_REQUIRED)
        : { kind: 'consent', sub, authTime }
    }
    const code = await this.#deps.codes.issue(tx, request, subject)
    return { kind: 'client', location: codeLocation(request, code) }
  }
}

/** Who sits at the page for consent. */
interface ConsentAnswer {
  readonly sessionToken: string
  /** The sign-in that was just made for the request; undefined when the browser was signed in before. */
  readonly proven: ProvenSignIn | undefined
}

const failed = (request: AuthorizationRequest, error: AuthorizationError): NextStep => ({
  kind: 'client',
  location: errorLocation(request, error),
})

const CONSENT_REQUIRED: AuthorizationError = {
  error: 'consent_required',
  description: 'The user has to be asked about the client',
}
const DENIED: AuthorizationError = {
  error: 'access_denied',
  description: 'The user does not want the client to learn that',
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
