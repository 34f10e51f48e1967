import type {
  AuthorizationError,
  AuthorizationRequest,
  LoginAttempt,
} from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { SignedIn } from '#identity/authorization/sign-ins.ts'
import type { PoolRequest } from '#identity/pool-request.ts'

import {
  type AuthorizationResponse,
  requireCode,
  parseAuthorizationResponse,
  authorizationErrorOf,
  requireSameIssuer,
} from './authorization-response.ts'
import type {
  FederatedAccount,
  FederatedAccounts,
  FederatedSignInRefusal,
} from './federated-accounts.ts'
import type { FederationDeps } from './federation-deps.ts'
import type { Links } from './links.ts'
import { type LoginRefusals, LoginRefused, linkRefused } from './login-refusals.ts'
import type { LoginState, LoginStates } from './login-states.ts'
import { callbackUri } from './model.ts'
import type { ProviderClient, ProviderUser } from './provider-client.ts'
import { untrusted } from './provider-fault.ts'
import type { Providers } from './providers.ts'

/** How far a provider's clock may be off. */
const CLOCK_SKEW_SECONDS = 60

/** The request with which a browser returns from the provider. */
export interface CallbackRequest {
  readonly params: URLSearchParams
  /** Returns the cookie of the sign-in with that id. */
  readonly bindingOf: (loginId: string) => string | undefined
  /** The browser's session at the pool until now. */
  readonly sessionToken: string | undefined
}

/** How a sign-in with a provider ends. */
export type CallbackResult =
  | ({ readonly kind: 'signed-in'; readonly request: AuthorizationRequest } & SignedIn)
  /** The error goes to the client. */
  | { readonly kind: 'error-redirect'; readonly location: string }
  /** A page says what the person can do instead. */
  | {
      readonly kind: 'refused'
      readonly reason: FederatedSignInRefusal
      readonly request: AuthorizationRequest
    }
  /** The sign-in is unknown, over, or another browser's: no client can be trusted to have requested it. */
  | { readonly kind: 'unknown-login' }

/** Ends sign-ins whose browsers come back from the provider. */
export class AuthorizationCallbacks {
  readonly #deps

  constructor(
    deps: FederationDeps & {
      readonly providers: Providers
      readonly client: ProviderClient
      readonly loginStates: LoginStates
      readonly accounts: FederatedAccounts
      readonly links: Links
      readonly refusals: LoginRefusals
    },
  ) {
    this.#deps = deps
  }

  async finish(
    { site, pool, origin }: PoolRequest,
    callback: CallbackRequest,
  ): Promise<CallbackResult> {
    const authTime = this.#deps.clock.now()
    const answer = parseAuthorizationResponse(callback.params)
    if (!answer) return { kind: 'unknown-login' }
    const login = await this.#deps.loginStates.take(site, pool, answer.state, callback.bindingOf)
    if (!login) return { kind: 'unknown-login' }
    const check = checkAuthorization(pool, new URLSearchParams(login.query))
    // The operator has changed the client, or the provider, while the browser was away.
    if (check.kind === 'error-page') return { kind: 'unknown-login' }
    if (check.kind === 'error-redirect') return { kind: 'error-redirect', location: check.location }
    const { request } = check
    const language = request.language ?? origin.language
    const attempt = { site, request, origin: { ...origin, language } }
    const { refusals, signIns } = this.#deps
    try {
      const person = await this.#personOf(attempt, login, answer)
      const account = await this.#accountOf(attempt, login, person)
      if (account.kind === 'refused') {
        await refusals.note(attempt, account.reason, { email: person.verifiedEmail })
        return { ...account, request }
      }
      const { sub } = account
      const proof = { sub, method: 'google', authTime, replaces: callback.sessionToken } as const
      return { kind: 'signed-in', request, ...(await signIns.complete(attempt, proof)) }
    } catch (error) {
      return { kind: 'error-redirect', location: await refusals.errorLocation(attempt, error) }
    }
  }

  async #personOf(
    { site, request }: LoginAttempt,
    login: LoginState,
    answer: AuthorizationResponse,
  ): Promise<ProviderUser> {
    requireSameIssuer(answer, login)
    if (answer.error !== undefined) throw new LoginRefused(authorizationErrorOf(answer.error))
    const code = requireCode(answer)
    const { issuer, clientId, nonce, verifier } = login
    const access = await this.#deps.providers.access(site, request.pool)
    if (access.issuer !== issuer || access.clientId !== clientId) {
      throw untrusted('The provider has been changed while the browser was there')
    }
    const redirectUri = login.redirectUri ?? callbackUri(request.pool.issuer)
    const grant = { code, redirectUri, nonce, verifier }
    const person = await this.#deps.client.redeem(access, grant)
    if (!isRecentEnough(person, login)) throw new LoginRefused(NOT_RECENT)
    return person
  }

  async #accountOf(
    { site, request, origin }: LoginAttempt,
    { issuer, linker }: LoginState,
    person: ProviderUser,
  ): Promise<FederatedAccount> {
    const { pool, client } = request
    const signIn = { site, pool, origin, person, issuer, clientId: client.clientId }
    if (!linker) return this.#deps.accounts.resolve(signIn)
    const reason = await this.#deps.links.complete(signIn, linker)
    if (reason) throw linkRefused(reason, linker)
    return { kind: 'resolved', sub: linker.sub }
  }
}

/** Google sends no `auth_time`: it is trusted to have prompted the user, as requested. */
const isRecentEnough = (
  { authTimeSeconds }: ProviderUser,
  { authenticatedAfterSeconds }: LoginState,
): boolean =>
  authTimeSeconds === undefined ||
  authenticatedAfterSeconds === undefined ||
  authTimeSeconds >= authenticatedAfterSeconds - CLOCK_SKEW_SECONDS

const NOT_RECENT: AuthorizationError = {
  error: 'login_required',
  description: 'Google did not ask the user again',
}
