import { AppError, invalid } from '#base/app-error.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Client } from '#identity/pools/client.ts'
import type { GoogleProvider, Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { FreshVisitorToken } from '#identity/tokens/visitor-tokens.ts'
import { isRevoked } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { FederationDeps } from './federation-deps.ts'
import type { LinkRequest } from './link-request.ts'
import type { LinkTicket, LinkTickets } from './link-tickets.ts'
import type { LinkingUser } from './login-state.ts'
import { GOOGLE } from './model.ts'
import type { ProviderUser } from './provider-client.ts'
import {
  deleteFormerIdentity,
  insertIdentity,
  selectIdentity,
  selectIdentityOwner,
} from './queries.ts'
import { requireRecentSignIn } from './recent-sign-in.ts'

/** Why a provider was not added; the client reads it at the start of `error_description`. */
export type LinkRefusal =
  | 'ProviderAlreadyLinked'
  | 'ProviderLinkedToOtherAccount'
  | 'RecentSignInRequired'

export interface LinkStart {
  readonly authorizeUrl: string
  readonly clientId: string
  readonly expiresAt: Date
  readonly bindingToken: string
}

export interface LinkCompletion {
  readonly pool: Pool
  readonly issuer: string
  readonly clientId: string
  readonly linker: LinkingUser
  readonly origin: RequestOrigin
}

export interface LinksDeps extends FederationDeps {
  readonly tickets: LinkTickets
}

/** Adding a provider to an account: nobody but the account's owner, recently signed in, begins or ends it. */
export class Links {
  readonly #deps: LinksDeps

  constructor(deps: LinksDeps) {
    this.#deps = deps
  }

  /** 404 `ProviderNotEnabled`, 403 `RecentSignInRequired`, 409 `ProviderAlreadyLinked`. */
  async start(site: Site, visitor: FreshVisitorToken, request: LinkRequest): Promise<LinkStart> {
    const { pool } = visitor
    const google = requireGoogle(pool)
    requireRecentSignIn(visitor, this.#deps.clock.now())
    const client = linkClientOf(pool)
    if (!client.redirectUris.includes(request.redirectUri)) {
      throw invalid('redirectUri', 'is not one that the site has registered')
    }
    if (await this.#isLinked(site, pool, visitor.sub)) throw alreadyLinked()
    const linker: LinkingUser = {
      sub: visitor.sub,
      ...(visitor.familyId !== undefined && { familyId: visitor.familyId }),
      askedAtSeconds: visitor.issuedAtSeconds,
    }
    const ticket = this.#deps.tickets.issue(linker, { ...request, pool })
    const params = authorizeParams(google, client, request, ticket)
    requireServable(pool, params)
    return {
      authorizeUrl: `${pool.issuer}/oauth2/authorize?${params.toString()}`,
      clientId: client.clientId,
      expiresAt: ticket.expiresAt,
      bindingToken: ticket.bindingToken,
    }
  }

  /** Whether the sign-in that asked for the link still stands, and the account has room for it. */
  async refusalOf(site: Site, pool: Pool, linker: LinkingUser): Promise<LinkRefusal | undefined> {
    if (!(await this.#stands(site, pool, linker))) return 'RecentSignInRequired'
    return (await this.#isLinked(site, pool, linker.sub)) ? 'ProviderAlreadyLinked' : undefined
  }

  /** Adds the identity; again for the same one changes nothing. */
  async complete(
    site: Site,
    person: ProviderUser,
    linking: LinkCompletion,
  ): Promise<LinkRefusal | undefined> {
    const { pool, linker } = linking
    if (!(await this.#stands(site, pool, linker))) return 'RecentSignInRequired'
    return this.#deps.database.withSite(site.siteId, (tx) => this.#add(tx, site, person, linking))
  }

  async #add(
    tx: SiteTx,
    site: Site,
    person: ProviderUser,
    linking: LinkCompletion,
  ): Promise<LinkRefusal | undefined> {
    const { pool, issuer, linker, clientId, origin } = linking
    const { sub } = linker
    const user = await this.#deps.users.find(tx, pool.userPoolId, sub)
    if (user?.status !== 'ACTIVE') return 'RecentSignInRequired'
    const identity = { issuer, subject: person.subject }
    const email = person.address.kind === 'verified' ? person.address.email : null
    const holder = await selectIdentityOwner(tx, pool.userPoolId, identity)
    if (holder) return holder.sub === sub ? undefined : 'ProviderLinkedToOtherAccount'
    await deleteFormerIdentity(tx, pool.userPoolId, sub, issuer)
    const row = { ...identity, sub, email }
    const added = await insertIdentity(tx, pool.userPoolId, row, this.#deps.clock.now())
    if (!added) return this.#takenSide(tx, linking)
    await this.#deps.events.record(tx, {
      event: 'provider.linked',
      pool: pool.kind,
      sub,
      email: user.email,
      clientId,
      origin,
      detail: { provider: GOOGLE, by: 'owner' },
    })
    const notice = { kind: 'provider-linked', provider: GOOGLE, to: user.email } as const
    await this.#deps.authEmails.send(tx, site, notice)
    return undefined
  }

  async #takenSide(tx: SiteTx, { pool, linker }: LinkCompletion): Promise<LinkRefusal> {
    const own = await selectIdentity(tx, pool.userPoolId, linker.sub)
    return own ? 'ProviderAlreadyLinked' : 'ProviderLinkedToOtherAccount'
  }

  async #isLinked(site: Site, pool: Pool, sub: string): Promise<boolean> {
    const identity = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectIdentity(tx, pool.userPoolId, sub),
    )
    return identity !== undefined && identity.issuer === pool.google?.issuer
  }

  async #stands(site: Site, pool: Pool, linker: LinkingUser): Promise<boolean> {
    const token = { sub: linker.sub, ...(linker.familyId && { origin_jti: linker.familyId }) }
    const standing = await this.#deps.users.accountStatus(site, pool.userPoolId, token)
    return standing !== undefined && !isRevoked(standing, linker.askedAtSeconds)
  }
}

function requireGoogle({ google }: Pool): GoogleProvider {
  if (google?.enabled) return google
  throw new AppError('ProviderNotEnabled', 'Google is not set up on this site')
}

const alreadyLinked = (): AppError =>
  new AppError('ProviderAlreadyLinked', 'This account is linked with Google already')

function linkClientOf({ clients, userPoolId }: Pool): Client {
  const client = [...clients.values()].find(({ purpose }) => purpose === 'link')
  if (!client) throw new Error(`The pool ${userPoolId} has no client for linking`)
  return client
}

const authorizeParams = (
  google: GoogleProvider,
  client: Client,
  request: LinkRequest,
  { ticket }: LinkTicket,
): URLSearchParams =>
  new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: request.redirectUri,
    scope: google.scopes.join(' '),
    code_challenge: request.codeChallenge,
    code_challenge_method: request.codeChallengeMethod,
    identity_provider: GOOGLE,
    ...(request.state !== undefined && { state: request.state }),
    ...(request.nonce !== undefined && { nonce: request.nonce }),
    link_ticket: ticket,
  })

/** Better said now than by the page that the browser would come to. */
function requireServable(pool: Pool, params: URLSearchParams): void {
  const check = checkAuthorization(pool, params)
  if (check.kind === 'valid') return
  const description =
    check.kind === 'error-page'
      ? check.description
      : new URL(check.location).searchParams.get('error_description')
  throw invalid('body', description ?? 'is not a request that can be served')
}
