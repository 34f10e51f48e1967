import type {
  AuthorizationError,
  LoginAttempt,
} from '#identity/authorization/authorization-request.ts'

import type { AuthorizationRedirect, BrowserCookies } from './authorization-redirect.ts'
import type { FederationDeps } from './federation-deps.ts'
import type { LinkChecks } from './link-checks.ts'
import type { LoginRefusals } from './login-refusals.ts'
import type { LinkingUser } from './login-state.ts'
import type { LoginStates } from './login-states.ts'
import { callbackUri } from './model.ts'
import type { ProviderClient } from './provider-client.ts'
import type { ProviderAccess, Providers } from './providers.ts'

interface AuthorizationRedirectsDeps extends FederationDeps {
  readonly providers: Providers
  readonly client: ProviderClient
  readonly loginStates: LoginStates
  readonly linkChecks: LinkChecks
  readonly refusals: LoginRefusals
}

/** Browsers that leave for the provider. */
export class AuthorizationRedirects {
  readonly #deps: AuthorizationRedirectsDeps

  constructor(deps: AuthorizationRedirectsDeps) {
    this.#deps = deps
  }

  async start(attempt: LoginAttempt, cookies: BrowserCookies): Promise<AuthorizationRedirect> {
    const { site, request } = attempt
    if (request.client.purpose !== 'link') return this.#leave(attempt, undefined)
    const link = await this.#deps.linkChecks.check(site, request, cookies)
    switch (link.kind) {
      case 'allowed':
        return this.#leave(attempt, link.linker)
      case 'refused':
        return {
          location: await this.#deps.refusals.linkErrorLocation(attempt, link.reason, link.linker),
        }
      case 'other-browser':
        return { location: await this.#deps.refusals.errorLocation(attempt, NOT_SIGNED_IN) }
    }
  }

  async #leave(
    attempt: LoginAttempt,
    linker: LinkingUser | undefined,
  ): Promise<AuthorizationRedirect> {
    try {
      const access = await this.#deps.providers.access(attempt.site, attempt.request.pool)
      return await this.#begin(attempt, access, linker)
    } catch (error) {
      return { location: await this.#deps.refusals.faultLocation(attempt, error) }
    }
  }

  async #begin(
    { site, request }: LoginAttempt,
    access: ProviderAccess,
    linker: LinkingUser | undefined,
  ): Promise<AuthorizationRedirect> {
    const { pool } = request
    const { answersNameIssuer } = await this.#deps.client.metadata(access.issuer)
    const { state, binding } = this.#deps.loginStates.prepare()
    const [nonce, verifier] = [this.#deps.ids.secret(), this.#deps.ids.secret()]
    const maxAgeSeconds = request.prompts.has('login') ? 0 : request.maxAgeSeconds
    const location = await this.#deps.client.authorizationUrl(access, {
      redirectUri: callbackUri(pool.issuer),
      state,
      nonce,
      verifier,
      prompts: [...request.prompts].filter((prompt) => prompt !== 'none'),
      maxAgeSeconds,
      loginHint: request.loginHint,
    })
    const nowSeconds = Math.floor(this.#deps.clock.now().getTime() / 1000)
    const since = maxAgeSeconds === undefined ? undefined : nowSeconds - maxAgeSeconds
    const visit = {
      query: request.query,
      issuer: access.issuer,
      clientId: access.clientId,
      answersNameIssuer,
      nonce,
      verifier,
      ...(since !== undefined && { authenticatedAfterSeconds: since }),
      ...(linker && { linker }),
    }
    await this.#deps.loginStates.open(site, pool, { state, binding }, visit)
    return { location, binding }
  }
}

const NOT_SIGNED_IN: AuthorizationError = {
  error: 'login_required',
  description: 'This browser is not signed in to the account that asked to link',
}
