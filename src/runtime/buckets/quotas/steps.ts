import { AppError, notFound } from '#base/app-error.ts'
import { StatementBatcher } from '#base/statement-batcher.ts'
import type { PlatformServices } from '#platform/services.ts'

import { type ObjectRef, checkQuota } from './model.ts'
import { type BucketStep, type StepAnswer, takeBucketSteps } from './step-queries.ts'
import { uploadMs } from './times.ts'

/** Of one statement, which holds its site's lock until it is committed. */
const MOST_STEPS = 64
/** An upkeep that is planned may have run, and planned nothing, before the steps are taken. */
const PLAN_TRIES = 5

/** Room that a write holds until it is settled. */
export interface Reservation extends ObjectRef {
  readonly reservationId: string
  /** The object's, when this was reserved. */
  readonly version: string
}

export interface SeenObject {
  /** The object's, before it was looked at. */
  readonly version: string
  /** Undefined when there is no such object. */
  readonly sizeBytes: number | undefined
  /** The reservation under which it came. */
  readonly ends?: string
}

/**
 * The steps that every write takes on its site's accounts. Those that come while others are committed are taken together,
 * so a site's writers wait for few commits instead of one after the other.
 */
export class BucketSteps {
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

  /** False when somebody settled the object since that version. */
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
