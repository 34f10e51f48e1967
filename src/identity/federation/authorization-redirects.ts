import { type LoginAttempt, isLinkRequest } from '#identity/authorization/authorization-request.ts'
import type { Pool } from '#identity/pools/model.ts'

import { type LinkCheckDeps, checkLinkRequest } from './link-checks.ts'
import type { LoginRefusals } from './login-refusals.ts'
import type { LinkingUser, LoginStates } from './login-states.ts'
import type { ProviderClient } from './provider-client.ts'
import { ProviderFault } from './provider-fault.ts'
import type { ProviderAccess, Providers } from './providers.ts'

/** Where a browser is redirected to sign in with the provider. */
export interface AuthorizationRedirect {
  /** The provider's authorization endpoint; or the client's redirect URI, with an error. */
  readonly location: string
  /** For a cookie of this browser: the sign-in ends in no other. */
  readonly binding?: LoginBinding
}

export interface LoginBinding {
  /** Names the cookie. */
  readonly loginId: string
  readonly token: string
  readonly expiresAt: Date
}

/** Cookies of the browser that is redirected. */
export interface BrowserCookies {
  /** The browser's session at the pool. */
  readonly sessionToken: string | undefined
  /** Set in the browser whose application requested the link. */
  readonly linkBinding: string | undefined
}

/** Redirects browsers to the provider's sign-in. */
export class AuthorizationRedirects {
  readonly #deps

  constructor(
    deps: LinkCheckDeps & {
      readonly providers: Providers
      readonly client: ProviderClient
      readonly loginStates: LoginStates
      readonly refusals: LoginRefusals
    },
  ) {
    this.#deps = deps
  }

  async start(attempt: LoginAttempt, cookies: BrowserCookies): Promise<AuthorizationRedirect> {
    const { providers, refusals } = this.#deps
    const { site, request } = attempt
    try {
      const linker = isLinkRequest(request)
        ? await checkLinkRequest(this.#deps, attempt, cookies)
        : undefined
      const access = await providers.access(site, request.pool)
      return await this.#begin(attempt, access, linker)
    } catch (error) {
      return { location: await refusals.errorLocation(attempt, error) }
    }
  }

  /** The provider's own page, as a URL without query; undefined while it cannot be reached. */
  async providerPage({ google }: Pick<Pool, 'google'>): Promise<string | undefined> {
    if (!google?.enabled) return undefined
    try {
      return (await this.#deps.client.metadata(google.issuer)).authorizationEndpoint
    } catch (error) {
      if (error instanceof ProviderFault) return undefined
      throw error
    }
  }

  async #begin(
    { site, request }: LoginAttempt,
    access: ProviderAccess,
    linker: LinkingUser | undefined,
  ): Promise<AuthorizationRedirect> {
    const { client, clock, ids, loginStates } = this.#deps
    const { pool, query, prompts, loginHint } = request
    const { issuer, clientId, redirectUri } = access
    const { answersNameIssuer } = await client.metadata(issuer)
    const [nonce, verifier] = [ids.secret(), ids.secret()]
    const maxAgeSeconds = prompts.has('login') ? 0 : request.maxAgeSeconds
    const nowSeconds = Math.floor(clock.now().getTime() / 1000)
    const login = { query, issuer, clientId, answersNameIssuer, nonce, verifier, redirectUri }
    const { state, binding } = await loginStates.open(site, pool, {
      ...login,
      ...(maxAgeSeconds !== undefined && { authenticatedAfterSeconds: nowSeconds - maxAgeSeconds }),
      ...(linker && { linker }),
    })
    const location = await client.authorizationUrl(access, {
      redirectUri,
      state,
      nonce,
      verifier,
      prompts: [...prompts].filter((prompt) => prompt !== 'none'),
      maxAgeSeconds,
      loginHint,
    })
    return { location, binding }
  }
}
