import type {
  AuthorizationError,
  AuthorizationRequest,
  LoginAttempt,
} from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { SignedIn } from '#identity/authorization/service.ts'
import type { PoolRequest } from '#identity/pool-request.ts'

import {
  type AuthorizationResponse,
  requireCode,
  parseAuthorizationResponse,
  authorizationErrorOf,
  requireSameIssuer,
} from './authorization-response.ts'
import type { FederatedAccounts, FederatedSignInRefusal } from './federated-accounts.ts'
import type { FederationDeps } from './federation-deps.ts'
import type { Links } from './links.ts'
import type { LoginRefusals } from './login-refusals.ts'
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

interface AuthorizationCallbacksDeps extends FederationDeps {
  readonly providers: Providers
  readonly client: ProviderClient
  readonly loginStates: LoginStates
  readonly accounts: FederatedAccounts
  readonly links: Links
  readonly refusals: LoginRefusals
}

/** How a sign-in with a provider ends. */
export type CallbackResult =
  | ({ readonly kind: 'signed-in' } & SignedIn)
  /** The client is told the error. */
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
  readonly #deps: AuthorizationCallbacksDeps

  constructor(deps: AuthorizationCallbacksDeps) {
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
    const attempt = { site, request: check.request, origin }
    const person = await this.#personOf(attempt, login, answer)
    if ('location' in person) return { kind: 'error-redirect', ...person }
    const account = await this.#accountOf(attempt, login, person)
    if ('kind' in account) return account
    const { sub } = account
    const proof = { sub, method: 'google', authTime, replaces: callback.sessionToken } as const
    const signedIn = await this.#deps.signIns.complete(attempt, proof)
    return { kind: 'signed-in', ...signedIn }
  }

  /** Returns the provider's user, or the client's redirect URI with the error. */
  async #personOf(
    attempt: LoginAttempt,
    login: LoginState,
    answer: AuthorizationResponse,
  ): Promise<ProviderUser | { readonly location: string }> {
    try {
      requireSameIssuer(answer, login)
      if (answer.error !== undefined) {
        return {
          location: await this.#deps.refusals.errorLocation(
            attempt,
            authorizationErrorOf(answer.error),
          ),
        }
      }
      const person = await this.#redeem(attempt, login, requireCode(answer))
      if (isRecentEnough(person, login)) return person
      return { location: await this.#deps.refusals.errorLocation(attempt, NOT_RECENT) }
    } catch (error) {
      return { location: await this.#deps.refusals.faultLocation(attempt, error) }
    }
  }

  async #redeem(
    { site, request }: LoginAttempt,
    login: LoginState,
    code: string,
  ): Promise<ProviderUser> {
    const access = await this.#deps.providers.access(site, request.pool)
    if (access.issuer !== login.issuer || access.clientId !== login.clientId) {
      throw untrusted('The provider has been changed while the browser was there')
    }
    const { nonce, verifier } = login
    const redirectUri = callbackUri(request.pool.issuer)
    return this.#deps.client.redeem(access, { code, redirectUri, nonce, verifier })
  }

  async #accountOf(
    attempt: LoginAttempt,
    login: LoginState,
    person: ProviderUser,
  ): Promise<{ readonly sub: string } | CallbackResult> {
    const { site, request, origin } = attempt
    const { pool, client } = request
    const { issuer, linker } = login
    const signIn = { site, pool, origin, person, issuer, clientId: client.clientId }
    if (linker) {
      const reason = await this.#deps.links.complete(signIn, linker)
      if (reason === undefined) return { sub: linker.sub }
      const location = await this.#deps.refusals.linkErrorLocation(attempt, reason, linker)
      return { kind: 'error-redirect', location }
    }
    const account = await this.#deps.accounts.resolve(signIn)
    if (account.kind === 'resolved') return { sub: account.sub }
    await this.#deps.refusals.note(attempt, account.reason, { email: person.verifiedEmail })
    return { kind: 'refused', reason: account.reason, request }
  }
}

/** Google sends no `auth_time`: it is believed to have prompted the user, as the request told it to. */
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
