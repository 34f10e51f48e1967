import { AppError, notFound } from '#base/app-error.ts'
import { StatementBatcher } from '#base/statement-batcher.ts'
import { ObjectFault } from '#platform/objects/object-fault.ts'
import type { ObjectHead, ObjectStore } from '#platform/objects/object-store.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import { bucketLimits } from '#runtime/buckets/bucket-limits.ts'
import { objectRefOf, storeKeyOf } from '#runtime/buckets/store-key.ts'
import { readDeploymentSettings } from '#sites/deployment-settings.ts'

import {
  type ObjectRef,
  type ObjectUsage,
  type BucketUsage,
  checkQuota,
  usageGrowth,
} from './model.ts'
import { type ObjectUsageRow, deleteObjectUsage, upsertObjectUsage } from './object-queries.ts'
import { checkOpenUploads } from './open-uploads.ts'
import { endReservation, insertReservation, selectOpenUploads } from './reservation-queries.ts'
import { type BucketStep, type StepAnswer, takeBucketSteps } from './step-queries.ts'
import { UPKEEP_LATE_MS, UPKEEP_MS, uploadMs } from './times.ts'
import {
  type LockedUsage,
  type BucketUsageRow,
  addBucketUsage,
  lockObjectUsage,
  lockBucket,
  lockBucketUsage,
  lockSiteSettings,
  selectBucketUsage,
  setUpkeep,
} from './usage-queries.ts'

/** Every failed try means that another process has settled the same object in between. */
const OBSERVE_TRIES = 20

/** Of one statement, which holds its site's lock until it is committed. */
const MOST_STEPS = 64

/** An upkeep that is planned may have run, and planned nothing, before the steps are taken. */
const PLAN_TRIES = 5

export interface BucketQuotasDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'clock' | 'ids' | 'logger'
> {
  readonly objects: Pick<ObjectStore, 'head'>
}

/** Room that a write holds until it is settled. */
interface Reservation extends ObjectRef {
  readonly reservationId: string
  /** The object's, when this was reserved. */
  readonly version: string
}

interface SeenObject {
  /** The object's, before it was looked at. */
  readonly version: string
  /** Undefined when there is no such object. */
  readonly sizeBytes: number | undefined
  /** The reservation under which it came. */
  readonly ends?: string
}

/**
 * What the buckets of each site hold, and the quota on it. The object store is the truth. Bytes are reserved before they can
 * arrive and settled after; an object's size is recorded only if the object was not settled since its version was read, and is
 * looked up again otherwise, so that the accounts end up right in whatever order things happen.
 */
export class BucketQuotas {
  readonly #deps: BucketQuotasDeps
  readonly #steps: BucketSteps

  constructor(deps: BucketQuotasDeps) {
    this.#deps = deps
    this.#steps = new BucketSteps({
      ...deps,
      planUpkeep: (siteId) =>
        this.#inSite({ siteId }, async (tx) => {
          const account = await lockBucketUsage(tx)
          if (account) await this.#planUpkeep(tx, account)
        }),
    })
  }

  /**
   * Runs a write of exactly that many bytes. Throws `QuotaExceeded` before it runs, and `TooManyRequests` when it is more than
   * its holder may have in flight.
   */
  async write(
    ref: ObjectRef,
    incoming: { readonly sizeBytes: number; readonly holder?: string },
    put: () => Promise<ObjectHead>,
  ): Promise<ObjectHead> {
    const reservation = await this.#reserveWrite(ref, incoming)
    const head = await put().catch(async (error: unknown) => {
      await this.#tolerate(ref, this.#giveUp(reservation, error))
      throw error
    })
    // The object is stored: whatever happens to its account, upkeep will see it.
    await this.#tolerate(ref, this.#settle(reservation, head.sizeBytes))
    return head
  }

  /** Counts what is put under a bucket's key, as `write` does. Puts under other keys are not counted. */
  take(
    {
      storeKey,
      ...incoming
    }: { readonly storeKey: string; readonly sizeBytes: number; readonly holder?: string },
    put: () => Promise<ObjectHead>,
  ): Promise<ObjectHead> {
    const ref = objectRefOf(storeKey)
    return ref ? this.write(ref, incoming, put) : put()
  }

  /**
   * Keeps room for what a URL may bring until it has expired. Throws `QuotaExceeded`, and `TooManyRequests` when a preset
   * has promised its caller, the holder, as much as one may have open at once.
   */
  async reserveUpload(
    ref: ObjectRef,
    upload: { readonly sizeBytes: number; readonly urlExpiresAt: Date; readonly holder?: string },
  ): Promise<void> {
    const { urlExpiresAt, ...asked } = upload
    // An upload may begin in the last moment.
    const expiresAt = new Date(urlExpiresAt.getTime() + uploadMs(asked.sizeBytes))
    await this.#reserve(ref, { ...asked, kind: 'url', expiresAt })
  }

  async remove(ref: ObjectRef, remove: () => Promise<void>): Promise<void> {
    const version = await this.#steps.look(ref)
    await remove()
    const settled = await this.#steps.settle(ref, { version, sizeBytes: undefined })
    if (!settled) await this.#tolerate(ref, this.settleFromStore(ref))
  }

  /** Takes over what the store says of an object now. */
  async settleFromStore(ref: ObjectRef): Promise<void> {
    for (let tries = 0; tries < OBSERVE_TRIES; tries++) {
      const account = await this.#inSite(ref, (tx) => lockObjectUsage(tx, ref))
      if (!account) return
      const before = account.object
      const head = await this.#deps.objects.head(storeKeyOf(ref))
      if (head?.sizeBytes === before.sizeBytes) return
      const seen = { version: before.version, sizeBytes: head?.sizeBytes }
      if (await this.#steps.settle(ref, seen)) return
    }
    throw new AppError('ServiceUnavailable', 'The object changes too fast to be counted')
  }

  /** Ends a reservation under which nothing can arrive any more; `observe` first. */
  async release(reservation: ObjectRef & { readonly reservationId: string }): Promise<void> {
    await this.#inSite(reservation, async (tx) => {
      const account = await lockObjectUsage(tx, reservation)
      if (!account) return
      const reservedBytes = await endReservation(tx, reservation, reservation.reservationId)
      await change(tx, { account, ref: reservation }, { ...account.object, reservedBytes })
    })
  }

  usage(siteId: string): Promise<BucketUsage> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const usage = await selectBucketUsage(tx)
      return {
        usedBytes: usage?.usedBytes ?? 0,
        usedObjects: usage?.usedObjects ?? 0,
        chargedBytes: usage?.chargedBytes ?? 0,
        chargedObjects: usage?.chargedObjects ?? 0,
      }
    })
  }

  /** With a holder it is counted among the open uploads of all holders, which only the longer way looks at. */
  async #reserveWrite(
    ref: ObjectRef,
    { sizeBytes, holder }: { readonly sizeBytes: number; readonly holder?: string },
  ): Promise<Reservation> {
    if (holder === undefined) return this.#steps.reserve(ref, sizeBytes)
    const expiresAt = new Date(this.#now() + uploadMs(sizeBytes))
    return this.#reserve(ref, { sizeBytes, holder, kind: 'write', expiresAt })
  }

  #reserve(
    ref: ObjectRef,
    asked: {
      readonly sizeBytes: number
      readonly kind: 'write' | 'url'
      readonly expiresAt: Date
      readonly holder?: string
    },
  ): Promise<Reservation> {
    return this.#inSite(ref, async (tx) => {
      const settings = await lockSiteSettings(tx)
      if (!settings || !(await lockBucket(tx, ref.bucketId))) {
        throw notFound('Resource', ref.bucketId)
      }
      const account = await this.#touch(tx, ref)
      const before = account.object
      const reservedBytes = Math.max(before.reservedBytes ?? 0, asked.sizeBytes)
      const after = { ...before, reservedBytes }
      const limits = bucketLimits(readDeploymentSettings(settings.deploymentSettings).limits)
      checkQuota(account, usageGrowth(before, after), limits)
      const reservation = {
        ...ref,
        reservationId: this.#deps.ids.uuid(),
        version: before.version,
      }
      await insertReservation(tx, { ...reservation, ...asked })
      const open =
        asked.holder === undefined ? undefined : await selectOpenUploads(tx, asked.holder)
      if (open) checkOpenUploads(open, limits, new Date(this.#now()))
      await change(tx, { account, ref }, after)
      return reservation
    })
  }

  /** Takes over the size that a write brought and ends its reservation. */
  async #settle(reservation: Reservation, sizeBytes: number): Promise<void> {
    const { version } = reservation
    const seen = { version, sizeBytes, ends: reservation.reservationId }
    if (await this.#steps.settle(reservation, seen)) return
    // Before the reservation ends: until then the object is charged, whatever its size turns out to be.
    await this.settleFromStore(reservation)
    await this.release(reservation)
  }

  /** A refusal says that nothing was stored; after any other fault only the store knows. */
  async #giveUp(reservation: Reservation, error: unknown): Promise<void> {
    const refused = error instanceof AppError || error instanceof ObjectFault
    if (!refused) await this.settleFromStore(reservation)
    await this.release(reservation)
  }

  async #touch(tx: SiteTx, ref: ObjectRef): Promise<LockedUsage> {
    const account = await lockObjectUsage(tx, ref, new Date(this.#now()))
    if (!account) throw new Error('The accounts of a site were neither found nor made')
    await this.#planUpkeep(tx, account)
    return account
  }

  async #planUpkeep(tx: SiteTx, { upkeepAt }: Pick<BucketUsageRow, 'upkeepAt'>): Promise<void> {
    const { siteId } = tx
    const now = this.#now()
    if (upkeepAt && upkeepAt.getTime() >= now - UPKEEP_LATE_MS) return
    await setUpkeep(tx, new Date(now + UPKEEP_MS))
    await this.#deps.queue.enqueue(
      tx,
      'bucket-upkeep',
      { siteId },
      { singletonKey: siteId, startAfterSeconds: UPKEEP_MS / 1000 },
    )
  }

  /** An acknowledged write stays; its reservation keeps the accounts on the safe side until upkeep settles it. */
  async #tolerate(ref: ObjectRef, accounting: Promise<void>): Promise<void> {
    const { siteId, bucketId } = ref
    await accounting.catch((error: unknown) => {
      this.#deps.logger.warn({ siteId, bucketId, err: error }, 'an object is settled later')
    })
  }

  #inSite<T>({ siteId }: Pick<ObjectRef, 'siteId'>, work: (tx: SiteTx) => Promise<T>): Promise<T> {
    return this.#deps.database.withSite(siteId, work)
  }

  readonly #now = (): number => this.#deps.clock.now().getTime()
}

const next = ({ version }: BucketUsageRow): string => String(BigInt(version) + 1n)

/** Writes what is known of a key and what that changes for the site. The caller holds the lock on `account`. */
async function change(
  tx: SiteTx,
  { account, ref }: { readonly account: LockedUsage; readonly ref: ObjectRef },
  after: ObjectUsageRow,
): Promise<void> {
  const more = usageGrowth(account.object, after)
  if (isKnown(after)) await upsertObjectUsage(tx, ref, after, more)
  else if (isKnown(account.object)) {
    await deleteObjectUsage(tx, ref)
    await addBucketUsage(tx, more, next(account))
  }
}

const isKnown = ({ sizeBytes, reservedBytes }: ObjectUsage): boolean =>
  sizeBytes !== undefined || reservedBytes !== undefined

/**
 * The steps that every write takes on its site's accounts. Those that come while others are committed are taken together,
 * so a site's writers wait for few commits instead of one after the other.
 */
class BucketSteps {
  readonly #deps
  readonly #batcher: StatementBatcher<BucketStep, StepAnswer>

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      /** Plans the site's upkeep, if it is not. */
      planUpkeep(siteId: string): Promise<void>
    },
  ) {
    this.#deps = deps
    this.#batcher = new StatementBatcher({
      send: (siteId, steps) => this.#send(siteId, steps),
      most: MOST_STEPS,
    })
  }

  /** Throws `QuotaExceeded`, and `ResourceNotFound` when the bucket is gone. */
  async reserve({ siteId, ...object }: ObjectRef, sizeBytes: number): Promise<Reservation> {
    const { clock, ids } = this.#deps
    const reservationId = ids.uuid()
    const expiresAt = new Date(clock.now().getTime() + uploadMs(sizeBytes))
    const answer = await this.#batcher.add(siteId, {
      kind: 'reserve',
      ...object,
      reservationId,
      sizeBytes,
      expiresAt,
    })
    if (answer.outcome === 'granted') {
      return { siteId, ...object, reservationId, version: answer.version }
    }
    if (answer.outcome === 'full') refuse(answer)
    throw notFound('Resource', object.bucketId)
  }

  /** The object's version. */
  async look({ siteId, ...object }: ObjectRef): Promise<string> {
    const answer = await this.#batcher.add(siteId, { kind: 'look', ...object })
    return answer.outcome === 'granted' ? answer.version : '0'
  }

  /** False when the object was settled since that version. */
  async settle(
    { siteId, bucketId, key }: ObjectRef,
    { version, sizeBytes, ends }: SeenObject,
  ): Promise<boolean> {
    const object = { bucketId, key }
    const step = { kind: 'settle', ...object, version, sizeBytes, reservationId: ends } as const
    const answer = await this.#batcher.add(siteId, step)
    return answer.outcome === 'settled'
  }

  async #send(siteId: string, steps: readonly BucketStep[]): Promise<readonly StepAnswer[]> {
    const { database, clock } = this.#deps
    for (let tries = 0; tries < PLAN_TRIES; tries++) {
      const answers = await takeBucketSteps(database, siteId, steps, clock.now())
      if (answers) return answers
      await this.#deps.planUpkeep(siteId)
    }
    throw new AppError(
      'ServiceUnavailable',
      'The upkeep of this site’s buckets could not be planned',
    )
  }
}

function refuse(full: Extract<StepAnswer, { readonly outcome: 'full' }>): void {
  const none = { usedBytes: 0, usedObjects: 0 }
  checkQuota(
    { ...none, chargedBytes: full.chargedBytes, chargedObjects: full.chargedObjects },
    { ...none, chargedBytes: full.moreBytes, chargedObjects: full.moreObjects },
    { bucketBytes: full.maxBytes, bucketObjects: full.maxObjects },
  )
}
