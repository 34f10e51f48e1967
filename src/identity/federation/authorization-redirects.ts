import { AppError } from '#base/app-error.ts'
import {
  type LoginAttempt,
  isLinkRequest,
  type AuthorizationError,
} from '#identity/authorization/authorization-request.ts'
import type { Pool } from '#identity/pools/model.ts'

import { isBindingOf } from './link-tickets.ts'
import type { Links, LinksDeps } from './links.ts'
import { type LoginRefusals, LoginRefused, linkRefused } from './login-refusals.ts'
import type { LinkingUser, LoginStates } from './login-states.ts'
import type { ProviderClient } from './provider-client.ts'
import { ProviderFault } from './provider-fault.ts'
import type { ProviderAccess, Providers } from './providers.ts'

const NOT_SIGNED_IN: AuthorizationError = {
  error: 'login_required',
  description: 'This browser is not signed in to the account that asked to link',
}

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

interface LinkCheckDeps extends LinksDeps {
  readonly links: Links
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

/**
 * Returns the account's owner, whose browser this must be: the authorize URL alone proves nothing, since another person who
 * opened it would link their identity to the sender's account. 403 `Forbidden` without a valid ticket, and in a browser where
 * another user is signed in. `LoginRefused` in a browser that did not request the link, and when the account cannot be linked.
 */
async function checkLinkRequest(
  { tickets, sessions, links }: LinkCheckDeps,
  { site, request }: LoginAttempt,
  cookies: BrowserCookies,
): Promise<LinkingUser> {
  const { pool } = request
  const ticket = tickets.read(request)
  if (!ticket) throw noTicket()
  const { linker } = ticket
  const session = await sessions.find(site, pool, cookies.sessionToken)
  if (session && session.sub !== linker.sub) throw otherAccount()
  const isRequester = cookies.linkBinding !== undefined && isBindingOf(ticket, cookies.linkBinding)
  if (!session && !isRequester) throw new LoginRefused(NOT_SIGNED_IN)
  const reason = await links.refusalOf(site, pool, linker)
  if (reason) throw linkRefused(reason, linker)
  return linker
}

const noTicket = (): AppError =>
  new AppError(
    'Forbidden',
    'This address for adding Google to an account is no longer valid. Go back to your account and start again.',
  )

const otherAccount = (): AppError =>
  new AppError(
    'Forbidden',
    'Adding Google was started from another account than the one that is signed in here. Go back to your account and start again.',
  )
