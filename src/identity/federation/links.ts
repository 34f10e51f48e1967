import { type Static, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { type Client, accountClient } from '#identity/pools/client.ts'
import type { GoogleProvider, Pool } from '#identity/pools/model.ts'
import type { Session } from '#identity/sessions/model.ts'
import type { FreshVisitorToken } from '#identity/tokens/visitor-tokens.ts'
import { type User, isRevoked } from '#identity/users/model.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { FederationDeps } from './federation-deps.ts'
import type { LinkTicket, LinkTickets } from './link-tickets.ts'
import type { LinkingUser } from './login-states.ts'
import { GOOGLE } from './model.ts'
import type { ProviderUser } from './provider-client.ts'
import {
  deleteFormerIdentity,
  insertIdentity,
  selectIdentity,
  selectIdentityOwner,
} from './queries.ts'

/** The body with which the site's application starts a link. The application keeps the PKCE verifier. */
export const LinkRequest = Type.Object(
  {
    redirectUri: Type.String({ minLength: 1, maxLength: 2048 }),
    codeChallenge: Type.String({ pattern: '^[\\w-]{43}$' }),
    codeChallengeMethod: Type.Literal('S256'),
    state: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    nonce: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
)
export type LinkRequest = Static<typeof LinkRequest>

/** Why a provider was not linked; clients find it at the start of `error_description`. */
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

/** A user of the provider who signs in at a client of the pool. */
export interface FederatedSignIn extends PoolRequest {
  readonly person: ProviderUser
  readonly issuer: string
  readonly clientId: string
}

export interface LinksDeps extends FederationDeps {
  readonly tickets: LinkTickets
}

/** Links a provider to an account, whose owner has proven to be there before the start, and whose sign-in is at the end. */
export class Links {
  readonly #deps: LinksDeps

  constructor(deps: LinksDeps) {
    this.#deps = deps
  }

  /** 404 `ProviderNotEnabled`, 409 `ProviderAlreadyLinked`. */
  async start(site: Site, visitor: FreshVisitorToken, request: LinkRequest): Promise<LinkStart> {
    const { pool } = visitor
    const client = linkClientOf(pool)
    return this.#start(site, visitor, { client, request })
  }

  /** The same for the account's page, to which the browser returns: its session is the sign-in that counts. */
  async startAtAccount(
    site: Site,
    pool: Pool,
    session: Pick<Session, 'sub' | 'authTime'>,
  ): Promise<LinkStart> {
    const owner = { ...session, pool, familyId: undefined, issuedAtSeconds: this.#nowSeconds() }
    const client = accountClient(pool.issuer)
    const request: LinkRequest = {
      redirectUri: `${pool.issuer}/account`,
      codeChallenge: this.#deps.ids.secret(),
      codeChallengeMethod: 'S256',
    }
    return this.#start(site, owner, { client, request })
  }

  async #start(
    site: Site,
    visitor: FreshVisitorToken,
    { client, request }: { readonly client: Client; readonly request: LinkRequest },
  ): Promise<LinkStart> {
    const { pool } = visitor
    const google = requireGoogle(pool)
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

  /** Checks that the sign-in that requested the link has not ended, and that the account has no identity yet. */
  async refusalOf(site: Site, pool: Pool, linker: LinkingUser): Promise<LinkRefusal | undefined> {
    if (!(await this.#stands(site, pool, linker))) return 'RecentSignInRequired'
    return (await this.#isLinked(site, pool, linker.sub)) ? 'ProviderAlreadyLinked' : undefined
  }

  /** Adds the identity. Adding it again changes nothing. */
  async complete(signIn: FederatedSignIn, linker: LinkingUser): Promise<LinkRefusal | undefined> {
    const { site, pool, issuer, person } = signIn
    if (!(await this.#stands(site, pool, linker))) return 'RecentSignInRequired'
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const user = await this.#deps.users.find(tx, pool.userPoolId, linker.sub)
      if (user?.status !== 'ACTIVE') return 'RecentSignInRequired'
      const identity = { issuer, subject: person.subject }
      const owner = await selectIdentityOwner(tx, pool.userPoolId, identity)
      if (owner) return owner.sub === user.sub ? undefined : 'ProviderLinkedToOtherAccount'
      if (await this.add(tx, signIn, user, 'owner')) return undefined
      const own = await selectIdentity(tx, user)
      return own ? 'ProviderAlreadyLinked' : 'ProviderLinkedToOtherAccount'
    })
  }

  /** Adds the identity to the account and tells its owner. False when either has another by now. */
  async add(
    tx: SiteTx,
    { site, pool, origin, person, issuer, clientId }: FederatedSignIn,
    user: User,
    by: 'owner' | 'verified-address',
  ): Promise<boolean> {
    const { clock, events, authEmails } = this.#deps
    const { userPoolId, sub, email } = user
    await deleteFormerIdentity(tx, user, issuer)
    const { subject, verifiedEmail = null } = person
    const identity = { issuer, subject, userPoolId, sub, email: verifiedEmail }
    if (!(await insertIdentity(tx, identity, clock.now()))) return false
    const event = { event: 'provider.linked', pool: pool.kind, sub, email, clientId } as const
    await events.record(tx, { ...event, origin, detail: { provider: GOOGLE, by } })
    const mail = { kind: 'provider-linked', provider: GOOGLE, to: email } as const
    await authEmails.send(tx, site, mail, origin)
    return true
  }

  #nowSeconds(): number {
    return Math.floor(this.#deps.clock.now().getTime() / 1000)
  }

  async #isLinked(site: Site, pool: Pool, sub: string): Promise<boolean> {
    const identity = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectIdentity(tx, { userPoolId: pool.userPoolId, sub }),
    )
    return identity !== undefined && identity.issuer === pool.google?.issuer
  }

  async #stands(site: Site, pool: Pool, linker: LinkingUser): Promise<boolean> {
    const token = { sub: linker.sub, ...(linker.familyId && { origin_jti: linker.familyId }) }
    const status = await this.#deps.users.accountStatus(site, pool.userPoolId, token)
    return status !== undefined && !isRevoked(status, linker.askedAtSeconds)
  }
}

function requireGoogle({ google }: Pool): GoogleProvider {
  if (google?.enabled) return google
  throw new AppError('ProviderNotEnabled', t('error.google-off'))
}

const alreadyLinked = (): AppError =>
  new AppError('ProviderAlreadyLinked', t('error.google-linked'))

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

/** Tells the application now what the authorize page would tell the visitor. */
function requireServable(pool: Pool, params: URLSearchParams): void {
  const check = checkAuthorization(pool, params)
  if (check.kind === 'valid') return
  const description =
    check.kind === 'error-page'
      ? check.description
      : new URL(check.location).searchParams.get('error_description')
  throw invalid('body', description ?? 'is not a request that can be served')
}
