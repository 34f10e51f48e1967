import { availableParallelism } from 'node:os'

import { OPERATOR } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import { SingleFlight } from '#base/single-flight.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { type NewKeyPair, newKeyPair } from './key-pair.ts'
import {
  type JwksDocument,
  MAX_KEYS,
  RETIRED_KEY_SECONDS,
  type VerificationKey,
  importSigningKey,
  jwksOf,
  signingKeySealContext,
} from './model.ts'
import {
  deleteExpiredKeys,
  deleteKeys,
  hasSigningKey,
  insertKey,
  lockPoolKeys,
  retireKeys,
  selectSealedKey,
} from './queries.ts'

const MAX_SIGNERS = 1000
/** Each takes some 60 ms of a core; the event loop keeps one. */
const KEYS_MADE_AT_ONCE = Math.max(1, availableParallelism() - 1)
/** Of one site. */
const MAX_WAITING_KEYS = 16

/** What a pool's keys need to know of it. */
interface KeyedPool {
  readonly userPoolId: string
  /** Empty until its first key is made. */
  readonly signingKid: string
  readonly keys: ReadonlyMap<string, VerificationKey>
}

/** The pools of sites, as this process remembers them. */
interface KeyedPools {
  get(site: Site): Promise<Readonly<Record<PoolKind, KeyedPool>>>
  pool(site: Site, userPoolId: string): Promise<KeyedPool>
  forget(siteId: string): void
}

export interface Signer {
  readonly kid: string
  readonly key: CryptoKey
}

/** What becomes of the tokens that the retired keys signed. */
export type OldTokens = 'keep' | 'end'

export interface RotatedKey {
  readonly userPoolId: string
  readonly kid: string
}

/**
 * The keys that sign the tokens of a site's pools. A pool gets its first key when it is first asked for one: by a sign-in, or
 * by a client that fetches its JWKS. Private halves are at rest only sealed with the site's own key.
 */
export class SigningKeys {
  readonly #deps
  readonly #newKeyPair: () => Promise<NewKeyPair>
  readonly #signers = new LoadingCache<string, Signer>({ entries: { max: MAX_SIGNERS } })
  readonly #firstKeys = new SingleFlight<string, void>()
  /** Sites in turn. */
  readonly #making = new Limiter({
    permits: KEYS_MADE_AT_ONCE,
    maxQueued: MAX_WAITING_KEYS,
    refuse: tooManyKeys,
  })

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly changes: AccountChanges
      readonly sealer: Sealer
      readonly siteKeys: SiteKeys
      readonly directory: KeyedPools
      readonly events: SecurityEvents
      /** Generated when left out; never the same twice. */
      readonly newKeyPair?: () => Promise<NewKeyPair>
    },
  ) {
    this.#deps = deps
    this.#newKeyPair = deps.newKeyPair ?? newKeyPair
  }

  /**
   * Every replica signs with the new keys from here on. Tokens of the old ones verify until they end, or, after a leak,
   * end now. 429 when a pool has `MAX_KEYS` keys whose tokens are still alive.
   */
  async rotate(
    site: Site,
    kinds: readonly PoolKind[],
    oldTokens: OldTokens = 'keep',
  ): Promise<readonly RotatedKey[]> {
    const pools = await this.#deps.directory.get(site)
    const pairs = await Promise.all(kinds.map(() => this.#make(site.siteId)))
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const rotated: RotatedKey[] = []
      for (const [index, kind] of kinds.entries()) {
        const { userPoolId } = pools[kind]
        await this.#retire(tx, userPoolId, oldTokens)
        const kid = await this.#store(tx, userPoolId, pairs[index])
        rotated.push({ userPoolId, kid })
        const detail = { kid, oldTokens }
        await this.#deps.events.record(tx, {
          event: 'keys.rotated',
          pool: kind,
          actor: OPERATOR,
          detail,
        })
      }
      await this.#deps.changes.siteChanged(tx)
      return rotated
    })
  }

  /** What `jwks_uri` answers for a pool of the site. Never without the key that signs: makes the first. */
  async jwks(site: Site, userPoolId: string): Promise<JwksDocument> {
    const pool = await this.#withKey(site, await this.#deps.directory.pool(site, userPoolId))
    return jwksOf(pool.keys.values(), this.#deps.clock.now().getTime())
  }

  /** The key that signs for the pool now; makes the first. */
  async signer(site: Site, asked: KeyedPool): Promise<Signer> {
    const pool = await this.#withKey(site, asked)
    return this.#signers.get(pool.signingKid, () => this.#open(site, pool))
  }

  /** The pool as it is now, if it had no key. */
  async #withKey(site: Site, pool: KeyedPool): Promise<KeyedPool> {
    if (pool.signingKid !== '') return pool
    const { userPoolId } = pool
    await this.#firstKeys.run(userPoolId, () => this.#createFirst(site, userPoolId))
    const keyed = await this.#deps.directory.pool(site, userPoolId)
    if (keyed.signingKid === '') throw this.#gone(site)
    return keyed
  }

  /** Of several replicas that make the first key at once, one stores it, and all of them use that. */
  async #createFirst({ siteId }: Site, userPoolId: string): Promise<void> {
    const { database, directory, changes } = this.#deps
    const hasKey = await database.withSite(siteId, (tx) => hasSigningKey(tx, userPoolId))
    const pair = hasKey ? undefined : await this.#make(siteId)
    if (pair) {
      await database.withSite(siteId, async (tx) => {
        const keys = await lockPoolKeys(tx, userPoolId)
        if (keys.some(({ expiresAt }) => expiresAt === null)) return
        await this.#store(tx, userPoolId, pair)
        await changes.siteChanged(tx)
      })
      pair.privateKey.fill(0)
    }
    // The notification of the replica that made it may still be on its way.
    directory.forget(siteId)
  }

  #make(siteId: string): Promise<NewKeyPair> {
    return this.#making.run(this.#newKeyPair, { key: siteId })
  }

  async #open(site: Site, { userPoolId, signingKid: kid }: KeyedPool): Promise<Signer> {
    const pkcs8 = await this.#deps.database.withSite(site.siteId, async (tx) => {
      const row = await selectSealedKey(tx, userPoolId, kid)
      if (!row) throw this.#gone(site)
      const siteKey = await this.#deps.siteKeys.wrapped(tx)
      return this.#deps.sealer.open(
        siteKey,
        signingKeySealContext(userPoolId, kid),
        row.sealedPrivate,
      )
    })
    const key = await importSigningKey(pkcs8)
    pkcs8.fill(0)
    return { kid, key }
  }

  /** Another replica ended the pool's keys and the word has not come yet. */
  #gone(site: Site): AppError {
    this.#deps.directory.forget(site.siteId)
    return new AppError('ServiceUnavailable', 'The keys of the pool have just changed: try again', {
      retryAfterSeconds: 1,
    })
  }

  async #retire(tx: SiteTx, userPoolId: string, oldTokens: OldTokens): Promise<void> {
    const now = this.#deps.clock.now()
    const kept = await lockPoolKeys(tx, userPoolId)
    if (oldTokens === 'end') return deleteKeys(tx, userPoolId)
    const alive = kept.filter((key) => key.expiresAt === null || key.expiresAt > now)
    if (alive.length >= MAX_KEYS) {
      const freeAt = alive[0]?.expiresAt ?? now
      throw new AppError(
        'TooManyRequests',
        `The pool "${userPoolId}" has ${MAX_KEYS} keys whose tokens are still alive: rotate again later`,
        { retryAfterSeconds: (freeAt.getTime() - now.getTime()) / 1000 },
      )
    }
    await deleteExpiredKeys(tx, userPoolId, now)
    const expiresAt = new Date(now.getTime() + RETIRED_KEY_SECONDS * 1000)
    await retireKeys(tx, userPoolId, { retiredAt: now, expiresAt })
  }

  async #store(tx: SiteTx, userPoolId: string, pair: NewKeyPair | undefined): Promise<string> {
    if (!pair) throw new Error('A pool has no key pair')
    const { kid, publicJwk, privateKey } = pair
    const siteKey = await this.#deps.siteKeys.wrapped(tx)
    const sealedPrivate = this.#deps.sealer.seal(
      siteKey,
      signingKeySealContext(userPoolId, kid),
      privateKey,
    )
    privateKey.fill(0)
    const createdAt = this.#deps.clock.now()
    await insertKey(tx, { userPoolId, kid, publicJwk, sealedPrivate, createdAt })
    return kid
  }
}

const tooManyKeys = (): AppError =>
  new AppError('TooManyRequests', 'Too many keys of this site are being made: try again later', {
    retryAfterSeconds: 1,
  })
