import { randomBytes, timingSafeEqual } from 'node:crypto'

import { type Actor, actorId } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { lockSiteRow } from '#platform/postgres/lock-site-row.ts'
import { type LimitedUse, RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type CreatedDeployToken,
  type DeployTokenHolder,
  type DeployTokenRecord,
  type DeployTokenRequest,
  type DeployTokenScope,
  MAX_DEPLOY_TOKENS,
  storedScopes,
} from './model.ts'
import {
  deleteDeployToken,
  insertDeployToken,
  selectDeployTokenBySecret,
  selectDeployTokens,
  updateDeployTokenUse,
} from './queries.ts'

const SECRET_BYTES = 32
/** Tells people who find one, and scanners of repositories, what it is. */
const PREFIX = 'croft_deploy_'
const USE_NOTED_MS = 3_600_000
const DAY_MS = 24 * 3_600_000

export interface DeployTokenUse {
  readonly secret: string
  /** One of these opens what is wanted. */
  readonly scopes: readonly DeployTokenScope[]
  /** The peer's address. */
  readonly address: string
}

/** Counted afterwards, since many may come from one network at the same moment, and 256 bits are not guessed. */
const wrongSecret = (address: string): LimitedUse => ({
  limit: RATE_LIMITS.wrongSecrets,
  siteId: 'deploy-tokens',
  of: ipPrefix(address),
})

/** The secrets with which programs deploy one site. */
export class DeployTokens {
  readonly #deps
  readonly #rateLimiter: RateLimiter

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly events: Pick<SecurityEvents, 'record'>
      readonly counters: Counters
    },
  ) {
    this.#deps = deps
    this.#rateLimiter = new RateLimiter(deps)
  }

  /** Whether a text looks like a token; says nothing about whether it is one. */
  static isToken(text: string): boolean {
    return text.startsWith(PREFIX)
  }

  /** 409 `TooManyDeployTokens` beyond twenty of a site. */
  create(
    { siteId }: Pick<Site, 'siteId'>,
    by: Actor,
    request: DeployTokenRequest,
  ): Promise<CreatedDeployToken> {
    const { database, events, clock, ids } = this.#deps
    const { name, scopes = ['deploy'], expiresInDays } = request
    const token = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`
    const createdAt = clock.now()
    const row = {
      tokenId: ids.named('dtk'),
      name,
      scopes,
      createdBy: actorId(by),
      createdAt,
      expiresAt:
        expiresInDays === undefined ? null : new Date(createdAt.getTime() + expiresInDays * DAY_MS),
    }
    return database.withSite(siteId, async (tx) => {
      if (!(await lockSiteRow(tx))) throw notFound('Site', siteId)
      if ((await selectDeployTokens(tx)).length >= MAX_DEPLOY_TOKENS) throw tooMany()
      await insertDeployToken(tx, { ...row, secretHash: hashSecret(token) })
      await events.record(tx, {
        event: 'deploy-token.created',
        by,
        detail: { tokenId: row.tokenId, name, scopes: scopes.join(' ') },
      })
      return { ...recordOf({ ...row, lastUsedAt: null }), token }
    })
  }

  /** The oldest first. */
  async list({ siteId }: Pick<Site, 'siteId'>): Promise<DeployTokenRecord[]> {
    const rows = await this.#deps.database.withSite(siteId, selectDeployTokens)
    return rows.map(recordOf)
  }

  /** It opens nothing from the next request on. 404 `DeployTokenNotFound`. */
  async end({ siteId }: Pick<Site, 'siteId'>, by: Actor, tokenId: string): Promise<void> {
    const { database, events } = this.#deps
    await database.withSite(siteId, async (tx) => {
      const name = await deleteDeployToken(tx, tokenId)
      if (name === undefined) throw notFound('DeployToken', tokenId)
      await events.record(tx, { event: 'deploy-token.ended', by, detail: { tokenId, name } })
    })
  }

  /**
   * Who holds that secret of this site. 401 for any other, 403 for one without the scope, 429 for a network that guesses. Without
   * a site by that name, the answer is that of a wrong secret.
   */
  async admit(
    site: Pick<Site, 'siteId'> | undefined,
    { secret, scopes, address }: DeployTokenUse,
  ): Promise<DeployTokenHolder> {
    await this.#rateLimiter.check(wrongSecret(address))
    const found = site && DeployTokens.isToken(secret) ? await this.#find(site, secret) : undefined
    if (!found) {
      await this.#rateLimiter.add(wrongSecret(address))
      throw new AppError('Unauthorized', 'This is no deploy token of the site, or it was ended')
    }
    const { tokenId, name, expiresAt } = found
    const held = storedScopes(found.scopes)
    if (expiresAt !== null && expiresAt <= this.#deps.clock.now()) {
      throw new AppError('TokenExpired', `The deploy token "${name}" has expired: make a new one`)
    }
    if (!scopes.some((scope) => held.includes(scope))) {
      throw new AppError(
        'Forbidden',
        `The deploy token "${name}" lacks the scope "${scopes.join('" or "')}"`,
      )
    }
    return { tokenId, name, scopes: held }
  }

  #find({ siteId }: Pick<Site, 'siteId'>, secret: string) {
    const now = this.#deps.clock.now()
    const secretHash = hashSecret(secret)
    return this.#deps.database.withSite(siteId, async (tx) => {
      const found = await selectDeployTokenBySecret(tx, secretHash)
      if (!found || !timingSafeEqual(found.secretHash, secretHash)) return undefined
      if (now.getTime() - (found.lastUsedAt?.getTime() ?? 0) >= USE_NOTED_MS) {
        await updateDeployTokenUse(tx, found.tokenId, now)
      }
      return found
    })
  }
}

type TokenRow = Awaited<ReturnType<typeof selectDeployTokens>>[number]

const recordOf = ({ scopes, createdAt, expiresAt, lastUsedAt, ...row }: TokenRow) => ({
  ...row,
  scopes: storedScopes(scopes),
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
})

const tooMany = (): AppError =>
  new AppError(
    'TooManyDeployTokens',
    `A site has at most ${MAX_DEPLOY_TOKENS} deploy tokens: end one first`,
  )
