import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { FederationDeps } from './federation-deps.ts'
import type { FederatedSignIn, Links } from './links.ts'
import { GOOGLE } from './model.ts'
import { insertIdentity, selectIdentityOwner } from './queries.ts'

/** Why a user of the provider is not signed in. */
export type FederatedSignInRefusal =
  | 'address-missing'
  | 'address-unverified'
  | 'address-taken'
  | 'sign-up-disabled'
  | 'account-not-active'

export type FederatedAccount =
  | { readonly kind: 'resolved'; readonly sub: string }
  | { readonly kind: 'refused'; readonly reason: FederatedSignInRefusal }

/** When the same new person arrives twice at once, the second attempt finds what the first has made. */
const MAX_ATTEMPTS = 2

/**
 * Finds the account of a provider's user. An identity that was seen before belongs to its account, whatever its address is
 * now. A new one gets a new account, never one that exists: an address alone proves too little.
 */
export class FederatedAccounts {
  readonly #deps

  constructor(
    deps: FederationDeps & {
      readonly links: Links
    },
  ) {
    this.#deps = deps
  }

  async resolve(signIn: FederatedSignIn): Promise<FederatedAccount> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const account = await this.#deps.database
        .withSite(signIn.site.siteId, (tx) => this.#resolve(tx, signIn))
        .catch(ignoreConcurrentSignUp)
      if (account) return account
    }
    return refused('address-taken')
  }

  async #resolve(tx: SiteTx, signIn: FederatedSignIn): Promise<FederatedAccount> {
    const { users, links } = this.#deps
    const { pool, issuer, person } = signIn
    const { userPoolId } = pool
    const { subject, verifiedEmail: email } = person
    // The address is looked up first: an account that is being made with this identity is then found by the identity.
    const user = email === undefined ? undefined : await users.findByEmail(tx, userPoolId, email)
    const owner = await selectIdentityOwner(tx, userPoolId, { issuer, subject })
    if (owner) {
      const linked = await users.find(tx, userPoolId, owner.sub)
      return linked?.status === 'ACTIVE' ? resolved(linked) : refused('account-not-active')
    }
    if (email === undefined) {
      return refused(person.hasEmail ? 'address-unverified' : 'address-missing')
    }
    if (!user) return this.#signUp(tx, signIn, email)
    if (!mayJoin(pool, user)) return refused('address-taken')
    if (!(await links.add(tx, signIn, user, 'verified-address'))) throw new ConcurrentSignUp()
    return resolved(user)
  }

  async #signUp(tx: SiteTx, signIn: FederatedSignIn, email: string): Promise<FederatedAccount> {
    const { clock, users, events } = this.#deps
    const { pool, issuer, person, clientId, origin } = signIn
    if (!pool.settings.selfSignUp) return refused('sign-up-disabled')
    const user = await users.addVisitor(tx, pool.userPoolId, email)
    if (!user) throw new ConcurrentSignUp()
    const { userPoolId, sub } = user
    const identity = { issuer, subject: person.subject, userPoolId, sub, email }
    if (!(await insertIdentity(tx, identity, clock.now()))) throw new ConcurrentSignUp()
    const event = { event: 'provider.sign-up', pool: pool.kind, sub, email, clientId } as const
    await events.record(tx, { ...event, origin, detail: { provider: GOOGLE } })
    return resolved(user)
  }
}

/** The address or the identity has got an account since: the transaction is rolled back and tried again. */
class ConcurrentSignUp extends Error {}

function ignoreConcurrentSignUp(error: unknown): undefined {
  if (!(error instanceof ConcurrentSignUp)) throw error
}

/** The site has to allow it, and the account's owner must have proven the address. */
const mayJoin = ({ settings }: Pool, { emailVerified, status }: User): boolean =>
  settings.linkVerifiedAddresses && emailVerified && status === 'ACTIVE'

const resolved = ({ sub }: User): FederatedAccount => ({ kind: 'resolved', sub })

const refused = (reason: FederatedSignInRefusal): FederatedAccount => ({ kind: 'refused', reason })
