import { OPERATOR } from '#base/actor.ts'
import { AppError, invalid } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { secondToIssue } from '#identity/users/issue-second.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import type { Site } from '#sites/site.ts'

import { MAX_TOKEN_LENGTH } from './bearer.ts'
import type { TokenUse } from './claims.ts'
import type { SignedToken, TokenSigner } from './token-signer.ts'

export interface MintRequest {
  /** Email address of the user. */
  readonly user: string
  readonly pool: PoolKind
  readonly use: TokenUse
  /** Data pool only: what the token says, whatever groups the user is in. */
  readonly groups: readonly string[]
}

/** Tokens without a sign-in, for the operator: `croft token`, launch validation, tests of a site. */
export class TokenMint {
  readonly #deps

  constructor(deps: {
    readonly directory: PoolDirectory
    readonly users: Users
    readonly signer: TokenSigner
    readonly clock: Clock
    readonly events: SecurityEvents
  }) {
    this.#deps = deps
  }

  /** An admin must exist (404 `UserNotFound`); a visitor who does not is created. */
  async mint(site: Site, request: MintRequest): Promise<SignedToken> {
    if (request.pool === 'admin' && request.groups.length > 0) {
      throw invalid('groups', 'only tokens of the data pool carry groups; leave it out')
    }
    const pool = (await this.#deps.directory.get(site))[request.pool]
    const user = await this.#userOf(site, pool, request.user)
    if (user.status === 'DISABLED' || user.status === 'DELETING') throw disabled(user)
    const issuedAtSeconds = await secondToIssue(this.#deps.clock, user.tokensValidAfter)
    const signed = await this.#deps.signer.sign(site, pool, request.use, {
      subject: {
        sub: user.sub,
        username: user.email,
        email: user.email,
        emailVerified: user.emailVerified,
        name: user.name,
        groups: user.role === null ? request.groups : [user.role],
      },
      times: { issuedAtSeconds, authTimeSeconds: issuedAtSeconds },
    })
    if (signed.token.length > MAX_TOKEN_LENGTH) {
      throw invalid('groups', `the token would be longer than ${MAX_TOKEN_LENGTH} characters`)
    }
    await this.#note(site, user, request)
    return signed
  }

  #note(site: Site, { sub, email }: User, { pool, use, groups }: MintRequest): Promise<void> {
    return this.#deps.events.note(site.siteId, {
      event: 'token.minted',
      pool,
      sub,
      email,
      actor: OPERATOR,
      detail: { use, ...(groups.length > 0 && { groups: groups.join(' ') }) },
    })
  }

  #userOf(site: Site, pool: Pool, email: string): Promise<User> {
    return pool.kind === 'admin'
      ? this.#deps.users.byEmail(site, pool, email)
      : this.#deps.users.ensureVisitor(site, pool, email)
  }
}

const disabled = ({ email }: User): AppError =>
  new AppError('UserDisabled', `"${email}" is disabled: enable the account first (croft users)`)
