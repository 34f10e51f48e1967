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
import type { LoginState } from './login-state.ts'
import type { LoginStates } from './login-states.ts'
import { callbackUri } from './model.ts'
import type { ProviderClient, ProviderUser } from './provider-client.ts'
import { untrusted } from './provider-fault.ts'
import type { Providers } from './providers.ts'

/** A provider's clock, and ours. */
const CLOCK_SKEW_SECONDS = 60

/** The request with which a browser returns from the provider. */
export interface CallbackRequest {
  readonly params: URLSearchParams
  /** The cookie of the visit with that id. */
  readonly bindingOf: (loginId: string) => string | undefined
  /** Of the browser's session until now. */
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
  /** Back at the client, with an error. */
  | { readonly kind: 'error-redirect'; readonly location: string }
  /** The person is asked to do something else. */
  | {
      readonly kind: 'refused'
      readonly reason: FederatedSignInRefusal
      readonly request: AuthorizationRequest
    }
  /** Unknown, over, or of another browser: there is no client that one could trust to be concerned. */
  | { readonly kind: 'unknown-login' }

/** Browsers that come back from the provider. */
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
    const visit = await this.#deps.loginStates.take(site, pool, answer.state, callback.bindingOf)
    if (!visit) return { kind: 'unknown-login' }
    const check = checkAuthorization(pool, new URLSearchParams(visit.query))
    // The client, or the provider, has changed while the browser was away.
    if (check.kind === 'error-page') return { kind: 'unknown-login' }
    if (check.kind === 'error-redirect') return { kind: 'error-redirect', location: check.location }
    const attempt = { site, request: check.request, origin }
    const person = await this.#personOf(attempt, visit, answer)
    if ('location' in person) return { kind: 'error-redirect', ...person }
    const account = await this.#accountOf(attempt, visit, person)
    if ('kind' in account) return account
    const { sub } = account
    const proof = { sub, method: 'google', authTime, replaces: callback.sessionToken } as const
    const signedIn = await this.#deps.signIns.complete(attempt, proof)
    return { kind: 'signed-in', ...signedIn }
  }

  /** Returns the user, or the client's address with the error. */
  async #personOf(
    attempt: LoginAttempt,
    visit: LoginState,
    answer: AuthorizationResponse,
  ): Promise<ProviderUser | { readonly location: string }> {
    try {
      requireSameIssuer(answer, visit)
      if (answer.error !== undefined) {
        return {
          location: await this.#deps.refusals.errorLocation(
            attempt,
            authorizationErrorOf(answer.error),
          ),
        }
      }
      const person = await this.#redeem(attempt, visit, requireCode(answer))
      if (isRecentEnough(person, visit)) return person
      return { location: await this.#deps.refusals.errorLocation(attempt, NOT_RECENT) }
    } catch (error) {
      return { location: await this.#deps.refusals.faultLocation(attempt, error) }
    }
  }

  async #redeem(
    { site, request }: LoginAttempt,
    visit: LoginState,
    code: string,
  ): Promise<ProviderUser> {
    const access = await this.#deps.providers.access(site, request.pool)
    if (access.issuer !== visit.issuer || access.clientId !== visit.clientId) {
      throw untrusted('The provider has been changed while the browser was there')
    }
    const { nonce, verifier } = visit
    const redirectUri = callbackUri(request.pool.issuer)
    return this.#deps.client.redeem(access, { code, redirectUri, nonce, verifier })
  }

  async #accountOf(
    attempt: LoginAttempt,
    visit: LoginState,
    person: ProviderUser,
  ): Promise<{ readonly sub: string } | CallbackResult> {
    const { site, request, origin } = attempt
    const { pool, client } = request
    const { issuer, linker } = visit
    const signIn = { site, pool, origin, person, issuer, clientId: client.clientId }
    if (linker) {
      const reason = await this.#deps.links.complete(signIn, linker)
      if (reason === undefined) return { sub: linker.sub }
      const location = await this.#deps.refusals.linkErrorLocation(attempt, reason, linker)
      return { kind: 'error-redirect', location }
    }
    const account = await this.#deps.accounts.resolve(signIn)
    if (account.kind === 'known') return { sub: account.sub }
    await this.#deps.refusals.note(attempt, account.reason, { email: person.verifiedEmail })
    return { kind: 'refused', reason: account.reason, request }
  }
}

/** A provider that does not say when it saw the person (Google) is believed to have asked, as it was told to. */
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
