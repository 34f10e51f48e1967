import { type Static, Type } from '@sinclair/typebox'

import { notFound } from '#base/app-error.ts'
import type { FreshVisitorToken } from '#identity/tokens/visitor-tokens.ts'
import type { Site } from '#sites/site.ts'

import type { FederationDeps } from './federation-deps.ts'
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
  readonly #deps: FederationDeps

  constructor(deps: FederationDeps) {
    this.#deps = deps
  }

  of(site: Site, { pool, sub }: FreshVisitorToken): Promise<AuthMethodsView> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const user = await this.#deps.users.find(tx, pool.userPoolId, sub)
      if (!user) throw notFound('User', sub)
      const identity = await selectIdentity(tx, user)
      const linked = identity !== undefined && identity.issuer === pool.google?.issuer
      return {
        username: user.email,
        email: user.email,
        emailVerified: user.emailVerified,
        methods: {
          password: { enabled: await this.#deps.passwords.exists(tx, pool, sub) },
          google: {
            // While the provider is switched off, the identity stays linked and cannot be used for sign-in.
            enabled: linked && (pool.google?.enabled ?? false),
            ...(linked && { linkedAt: identity.linkedAt.toISOString() }),
          },
        },
      }
    })
  }
}
