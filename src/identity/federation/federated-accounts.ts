import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { FederationDeps } from './federation-deps.ts'
import { GOOGLE } from './model.ts'
import type { ProviderUser } from './provider-client.ts'
import {
  type ExternalIdentity,
  deleteFormerIdentity,
  insertIdentity,
  selectIdentityOwner,
} from './queries.ts'

/** Why somebody whom the provider knows is not let in. */
export type FederatedSignInRefusal =
  | 'address-missing'
  | 'address-unverified'
  | 'address-taken'
  | 'sign-up-disabled'
  | 'account-not-active'

export type FederatedAccount =
  | { readonly kind: 'known'; readonly sub: string }
  | { readonly kind: 'refused'; readonly reason: FederatedSignInRefusal }

/** What an arrival is about, besides the person. */
export interface FederatedSignIn {
  readonly pool: Pool
  readonly issuer: string
  readonly clientId: string
  readonly origin: RequestOrigin
}

/** Two who arrive at once as the same new person: the second finds what the first has made. */
const MAX_ATTEMPTS = 2

/**
 * Which account somebody has who comes from a provider. An identity that is known is its account, whatever its address is
 * now. A new one gets an account of its own, and never one that exists: an address alone proves too little.
 */
export class FederatedAccounts {
  readonly #deps: FederationDeps

  constructor(deps: FederationDeps) {
    this.#deps = deps
  }

  async resolve(
    site: Site,
    person: ProviderUser,
    signIn: FederatedSignIn,
  ): Promise<FederatedAccount> {
    for (let rateLimiter = 1; rateLimiter <= MAX_ATTEMPTS; rateLimiter += 1) {
      const account = await this.#deps.database
        .withSite(site.siteId, (tx) => this.#resolve(tx, site, person, signIn))
        .catch(ignoreConcurrentSignUp)
      if (account) return account
    }
    return refused('address-taken')
  }

  async #resolve(
    tx: SiteTx,
    site: Site,
    person: ProviderUser,
    signIn: FederatedSignIn,
  ): Promise<FederatedAccount> {
    const { pool, issuer } = signIn
    const { address } = person
    const identity = { issuer, subject: person.subject }
    // The owner first: an account that is seen then has the identity that it was made with, when that is looked for.
    const owner =
      address.kind === 'verified'
        ? await this.#deps.users.findByEmail(tx, pool.userPoolId, address.email)
        : undefined
    const holder = await selectIdentityOwner(tx, pool.userPoolId, identity)
    if (holder) return this.#known(tx, pool, holder.sub)
    if (address.kind === 'none') return refused('address-missing')
    if (address.kind === 'unverified') return refused('address-unverified')
    const newUser = { ...signIn, identity, email: address.email }
    return owner ? this.#join(tx, site, owner, newUser) : this.#signUp(tx, newUser)
  }

  async #known(tx: SiteTx, pool: Pool, sub: string): Promise<FederatedAccount> {
    const user = await this.#deps.users.find(tx, pool.userPoolId, sub)
    return user?.status === 'ACTIVE' ? { kind: 'known', sub } : refused('account-not-active')
  }

  async #signUp(tx: SiteTx, newUser: NewFederatedUser): Promise<FederatedAccount> {
    const { pool, email, clientId, origin } = newUser
    if (!pool.settings.selfSignUp) return refused('sign-up-disabled')
    const user = await this.#deps.users.addVisitor(tx, pool.userPoolId, email)
    if (!user) throw new ConcurrentSignUp()
    await this.#take(tx, user, newUser)
    await this.#deps.events.record(tx, {
      event: 'provider.sign-up',
      pool: pool.kind,
      sub: user.sub,
      email,
      clientId,
      origin,
      detail: { provider: GOOGLE },
    })
    return { kind: 'known', sub: user.sub }
  }

  /** Only where the site allows it, and only onto an account whose address somebody has proven to us. */
  async #join(
    tx: SiteTx,
    site: Site,
    owner: User,
    newUser: NewFederatedUser,
  ): Promise<FederatedAccount> {
    const { pool, clientId, origin } = newUser
    const allowed =
      pool.settings.linkVerifiedAddresses && owner.emailVerified && owner.status === 'ACTIVE'
    if (!allowed) return refused('address-taken')
    await deleteFormerIdentity(tx, pool.userPoolId, owner.sub, newUser.issuer)
    await this.#take(tx, owner, newUser)
    await this.#deps.events.record(tx, {
      event: 'provider.linked',
      pool: pool.kind,
      sub: owner.sub,
      email: owner.email,
      clientId,
      origin,
      detail: { provider: GOOGLE, by: 'verified-address' },
    })
    const notice = { kind: 'provider-linked', provider: GOOGLE, to: owner.email } as const
    await this.#deps.authEmails.send(tx, site, notice)
    return { kind: 'known', sub: owner.sub }
  }

  async #take(
    tx: SiteTx,
    { sub }: User,
    { pool, identity, email }: NewFederatedUser,
  ): Promise<void> {
    const row = { ...identity, sub, email }
    const taken = await insertIdentity(tx, pool.userPoolId, row, this.#deps.clock.now())
    if (!taken) throw new ConcurrentSignUp()
  }
}

/** The address or the identity has an account by now: what this transaction did must not stay, and is tried again. */
class ConcurrentSignUp extends Error {}

function ignoreConcurrentSignUp(error: unknown): undefined {
  if (!(error instanceof ConcurrentSignUp)) throw error
}

interface NewFederatedUser extends FederatedSignIn {
  readonly identity: ExternalIdentity
  readonly email: string
}

const refused = (reason: FederatedSignInRefusal): FederatedAccount => ({ kind: 'refused', reason })
