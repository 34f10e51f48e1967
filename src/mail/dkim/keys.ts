import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import { type NewKeyPair, newKeyPair } from '#identity/keys/key-pair.ts'
import { importSigningKey } from '#identity/keys/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import {
  type DkimKey,
  MAX_DKIM_KEYS,
  RETIRING_MS,
  dkimKeyOf,
  dkimPublicKey,
  dkimSealContext,
  selectorOf,
} from './model.ts'
import {
  activateDkimKey,
  deleteRetiredDkimKeys,
  insertDkimKey,
  lockPendingDkimKey,
  supersedeDkimKey,
  selectActiveDkimKey,
  selectDkimKeys,
} from './queries.ts'

const MAX_OPENED = 1000
/** For as long a replica may sign with a key after another replica has retired it; its record stays for days. */
const OPENED_TTL_MS = 60_000

/** A key that signs, opened. It cannot be exported. */
export interface DkimSigningKey {
  readonly selector: string
  readonly key: CryptoKey
}

/** The keys with which sites sign their mail. The first is made when it is needed, and signs at once. */
export class DkimKeys {
  readonly #deps
  readonly #opened = new LoadingCache<string, DkimSigningKey>({
    entries: { max: MAX_OPENED, ttl: OPENED_TTL_MS },
  })

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly sealer: Sealer
      readonly siteKeys: SiteKeys
      readonly events: Pick<SecurityEvents, 'record'>
      /** Generated when left out. */
      readonly newKeyPair?: () => Promise<NewKeyPair>
      /** Whether DNS has the record of that key now. */
      readonly isPublished: (key: DkimKey) => Promise<boolean>
    },
  ) {
    this.#deps = deps
  }

  /** Newest first; makes the first. */
  async list(site: Site): Promise<readonly DkimKey[]> {
    const keys = await this.#stored(site)
    if (keys.length > 0) return keys
    await this.#createFirst(site.siteId)
    return this.#stored(site)
  }

  /** The key that signs for the site now; makes the first. */
  async signingKey(siteId: string): Promise<DkimSigningKey> {
    return this.#opened.get(siteId, async () => {
      const opened = await this.#open(siteId)
      if (opened) return opened
      await this.#createFirst(siteId)
      const created = await this.#open(siteId)
      if (created) return created
      throw new Error(`Site "${siteId}" has no active DKIM key`)
    })
  }

  /** Makes a key that is to be published; returns the pending one when there is one. 429 when too many are not retired yet. */
  async rotate(site: Site, by: Actor): Promise<DkimKey> {
    const before = await this.list(site)
    const pending = pendingOf(before)
    if (pending) return pending
    const { database, clock, events } = this.#deps
    const pair = await this.#newPair()
    await database.withSite(site.siteId, async (tx) => {
      const now = clock.now()
      await deleteRetiredDkimKeys(tx, new Date(now.getTime() - RETIRING_MS))
      const keys = await selectDkimKeys(tx)
      if (keys.length >= MAX_DKIM_KEYS) throw tooManyKeys()
      const number = (keys[0]?.number ?? 0) + 1
      if (!(await this.#insert(tx, pair, { number, activatedAt: null }))) return
      const detail = { selector: selectorOf(number) }
      await events.record(tx, { event: 'dkim.rotated', pool: 'admin', by, detail })
    })
    const made = pendingOf(await this.#stored(site))
    if (made) return made
    throw notPending(site)
  }

  /**
   * Signs with the pending key from now on; the other one begins to retire. 409 `DkimRecordNotPublished` when DNS does not
   * have its record, unless `force` says that it is; 409 `DkimKeyNotPending` when there is none.
   */
  async activate(site: Site, by: Actor, force: boolean): Promise<DkimKey> {
    const pending = pendingOf(await this.#stored(site))
    if (!pending) throw notPending(site)
    if (!force && !(await this.#deps.isPublished(pending))) throw notPublished(pending)
    const { database, clock, events } = this.#deps
    await database.withSite(site.siteId, async (tx) => {
      const number = await lockPendingDkimKey(tx)
      if (number === undefined || selectorOf(number) !== pending.selector) throw notPending(site)
      await supersedeDkimKey(tx, clock.now())
      await activateDkimKey(tx, number, clock.now())
      const detail = { selector: pending.selector, forced: force }
      await events.record(tx, { event: 'dkim.activated', pool: 'admin', by, detail })
      tx.onCommit(() => this.#opened.invalidate(site.siteId))
    })
    const active = (await this.#stored(site)).find(({ selector }) => selector === pending.selector)
    return active ?? pending
  }

  async #stored(site: Site): Promise<readonly DkimKey[]> {
    const keys = await this.#deps.database.withSite(site.siteId, selectDkimKeys)
    return keys.map((key) => dkimKeyOf(site.domain, key, this.#deps.clock.now()))
  }

  async #open(siteId: string): Promise<DkimSigningKey | undefined> {
    const { database, sealer, siteKeys } = this.#deps
    const found = await database.withSite(siteId, async (tx) => {
      const active = await selectActiveDkimKey(tx)
      return active && { ...active, siteKey: await siteKeys.wrapped(tx) }
    })
    if (!found) return undefined
    const { number, siteKey, sealedPrivate } = found
    const privateKey = sealer.open(siteKey, dkimSealContext(number), sealedPrivate)
    const key = await importSigningKey(privateKey)
    privateKey.fill(0)
    return { selector: selectorOf(number), key }
  }

  /** Of several replicas that make the first key at once, one makes it. */
  async #createFirst(siteId: string): Promise<void> {
    const pair = await this.#newPair()
    await this.#deps.database.withSite(siteId, (tx) =>
      this.#insert(tx, pair, { number: 1, activatedAt: this.#deps.clock.now() }),
    )
  }

  #newPair(): Promise<NewKeyPair> {
    return (this.#deps.newKeyPair ?? newKeyPair)()
  }

  async #insert(
    tx: SiteTx,
    pair: NewKeyPair,
    { number, activatedAt }: { readonly number: number; readonly activatedAt: Date | null },
  ): Promise<boolean> {
    const { sealer, siteKeys, clock } = this.#deps
    const context = dkimSealContext(number)
    const sealedPrivate = sealer.seal(await siteKeys.wrapped(tx), context, pair.privateKey)
    pair.privateKey.fill(0)
    const publicKey = await dkimPublicKey(pair)
    const createdAt = clock.now()
    return insertDkimKey(tx, { number, publicKey, sealedPrivate, createdAt, activatedAt })
  }
}

const pendingOf = (keys: readonly DkimKey[]): DkimKey | undefined =>
  keys.find(({ state }) => state === 'pending')

const notPending = ({ domain }: Site): AppError =>
  new AppError(
    'DkimKeyNotPending',
    `"${domain}" has no DKIM key that waits to be activated: rotate first`,
  )

const notPublished = ({ name }: DkimKey): AppError =>
  new AppError(
    'DkimRecordNotPublished',
    `DNS does not have the TXT record "${name}" with this key yet: publish it, wait a minute and try again, or send "force": true (croft site dkim activate --force)`,
  )

const tooManyKeys = (): AppError =>
  new AppError(
    'TooManyRequests',
    `A site has at most ${MAX_DKIM_KEYS} DKIM keys that are not retired: wait until the oldest is`,
  )
