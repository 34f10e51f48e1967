import { type Static, Type } from '@sinclair/typebox'

import { notFound } from '#base/app-error.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { FreshVisitorToken } from '#identity/tokens/visitor-tokens.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { selectIdentity } from './queries.ts'

export const AuthMethodsView = Type.Object({
  username: Type.String(),
  email: Type.String(),
  emailVerified: Type.Boolean(),
  methods: Type.Object({
    password: Type.Object({ enabled: Type.Boolean() }),
    google: Type.Object({ enabled: Type.Boolean(), linkedAt: Type.Optional(Type.String()) }),
  }),
})
export type AuthMethodsView = Static<typeof AuthMethodsView>

/** The ways in which the owner of an account can sign in. */
export class AuthMethods {
  readonly #database: Database
  readonly #users: Users
  readonly #passwords: Pick<Passwords, 'exists'>

  constructor(deps: { database: Database; users: Users; passwords: Pick<Passwords, 'exists'> }) {
    this.#database = deps.database
    this.#users = deps.users
    this.#passwords = deps.passwords
  }

  of(site: Site, { pool, sub }: FreshVisitorToken): Promise<AuthMethodsView> {
    return this.#database.withSite(site.siteId, async (tx) => {
      const user = await this.#users.find(tx, pool.userPoolId, sub)
      if (!user) throw notFound('User', sub)
      const identity = await selectIdentity(tx, pool.userPoolId, sub)
      const linked = identity !== undefined && identity.issuer === pool.google?.issuer
      return {
        username: user.email,
        email: user.email,
        emailVerified: user.emailVerified,
        methods: {
          password: { enabled: await this.#passwords.exists(tx, pool, sub) },
          google: {
            // An identity stays when the provider is switched off; one signs in with it when it is back.
            enabled: linked && (pool.google?.enabled ?? false),
            ...(linked && { linkedAt: identity.linkedAt.toISOString() }),
          },
        },
      }
    })
  }
}
