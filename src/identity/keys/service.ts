import { AppError } from '#base/app-error.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import { OPERATOR } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
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
  insertKey,
  lockPoolKeys,
  retireKeys,
  selectPublishedKeys,
  selectSealedKey,
} from './queries.ts'

const MAX_SIGNERS = 1000

/** What a pool's keys need to know of it. */
interface KeyedPool {
  readonly userPoolId: string
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

interface SigningKeysDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly changes: AccountChanges
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly directory: KeyedPools
  readonly events: SecurityEvents
  /** Made anew when left out; never the same twice. */
  readonly newKeyPair?: () => Promise<NewKeyPair>
}

/** The keys that sign the tokens of a site's pools. Private halves are at rest only sealed with the site's own key. */
export class SigningKeys {
  readonly #deps: SigningKeysDeps
  readonly #newKeyPair: () => Promise<NewKeyPair>
  readonly #signers = new LoadingCache<string, Signer>({ entries: { max: MAX_SIGNERS } })

  constructor(deps: SigningKeysDeps) {
    this.#deps = deps
    this.#newKeyPair = deps.newKeyPair ?? newKeyPair
  }

  /** The first key of each new pool. */
  async create(tx: SiteTx, userPoolIds: readonly string[]): Promise<void> {
    const pairs = await Promise.all(userPoolIds.map(() => this.#newKeyPair()))
    for (const [index, userPoolId] of userPoolIds.entries()) {
      await this.#store(tx, userPoolId, pairs[index])
    }
  }

  /** The same for pools that came with their site from elsewhere, if no key came with them. */
  async ensure(tx: SiteTx, userPoolIds: readonly string[]): Promise<void> {
    const keys = await selectPublishedKeys(tx, this.#deps.clock.now())
    const signing = new Set(
      keys.filter(({ expiresAt }) => expiresAt === null).map(({ userPoolId }) => userPoolId),
    )
    await this.create(
      tx,
      userPoolIds.filter((userPoolId) => !signing.has(userPoolId)),
    )
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
    const pairs = await Promise.all(kinds.map(() => this.#newKeyPair()))
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

  /** What `jwks_uri` answers for a pool of the site. */
  async jwks(site: Site, userPoolId: string): Promise<JwksDocument> {
    const pool = await this.#deps.directory.pool(site, userPoolId)
    return jwksOf(pool.keys.values(), this.#deps.clock.now().getTime())
  }

  /** The key that signs for the pool now. */
  async signer(site: Site, pool: KeyedPool): Promise<Signer> {
    return this.#signers.get(pool.signingKid, () => this.#open(site, pool))
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
