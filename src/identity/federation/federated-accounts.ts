import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { FederationDeps } from './federation-deps.ts'
import type { FederatedSignIn, Links } from './links.ts'
import { GOOGLE } from './model.ts'
import { insertIdentity, selectIdentityOwner } from './queries.ts'

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

/** When the same new person arrives twice at once, the second attempt finds what the first has made. */
const MAX_ATTEMPTS = 2

interface FederatedAccountsDeps extends FederationDeps {
  readonly links: Links
}

/**
 * Which account somebody has who comes from a provider. An identity that is known is its account, whatever its address is
 * now. A new one gets an account of its own, and never one that exists: an address alone proves too little.
 */
export class FederatedAccounts {
  readonly #deps: FederatedAccountsDeps

  constructor(deps: FederatedAccountsDeps) {
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
    // The address first: an account that is found by it then has the identity that it was made with, when that is looked for.
    const user = email === undefined ? undefined : await users.findByEmail(tx, userPoolId, email)
    const owner = await selectIdentityOwner(tx, userPoolId, { issuer, subject })
    if (owner) {
      const known = await users.find(tx, userPoolId, owner.sub)
      return known?.status === 'ACTIVE' ? resolved(known) : refused('account-not-active')
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

/** The address or the identity has an account by now: what this transaction did must not stay, and is tried again. */
class ConcurrentSignUp extends Error {}

function ignoreConcurrentSignUp(error: unknown): undefined {
  if (!(error instanceof ConcurrentSignUp)) throw error
}

/** Only where the site allows it, and only an account whose address somebody has proven to us. */
const mayJoin = ({ settings }: Pool, { emailVerified, status }: User): boolean =>
  settings.linkVerifiedAddresses && emailVerified && status === 'ACTIVE'

const resolved = ({ sub }: User): FederatedAccount => ({ kind: 'known', sub })

const refused = (reason: FederatedSignInRefusal): FederatedAccount => ({ kind: 'refused', reason })
