import { AppError } from '#base/app-error.ts'
import type { BucketLimits } from '#runtime/buckets/bucket-limits.ts'

export interface ObjectName {
  readonly bucketId: string
  readonly key: string
}

/** Where an object is, or would be. */
export interface ObjectRef extends ObjectName {
  readonly siteId: string
}

/** What is known of a key. */
export interface ObjectUsage {
  /** Undefined when there is no such object. */
  readonly sizeBytes: number | undefined
  /** The largest that a running write or an open URL may bring; undefined without any. */
  readonly reservedBytes: number | undefined
}

export interface BucketUsage {
  readonly usedBytes: number
  readonly usedObjects: number
  /** Used, or promised to a running write or an upload URL. */
  readonly chargedBytes: number
  readonly chargedObjects: number
}

/** What a key counts. Whatever may come next replaces what is there, so the larger of the two is charged, not their sum. */
export function usageOf({ sizeBytes, reservedBytes }: ObjectUsage): BucketUsage {
  const charged = sizeBytes !== undefined || reservedBytes !== undefined
  return {
    usedBytes: sizeBytes ?? 0,
    usedObjects: sizeBytes === undefined ? 0 : 1,
    chargedBytes: Math.max(sizeBytes ?? 0, reservedBytes ?? 0),
    chargedObjects: charged ? 1 : 0,
  }
}

export function usageGrowth(before: ObjectUsage, after: ObjectUsage): BucketUsage {
  const [from, to] = [usageOf(before), usageOf(after)]
  return {
    usedBytes: to.usedBytes - from.usedBytes,
    usedObjects: to.usedObjects - from.usedObjects,
    chargedBytes: to.chargedBytes - from.chargedBytes,
    chargedObjects: to.chargedObjects - from.chargedObjects,
  }
}

/** Throws `QuotaExceeded` where `asked` would grow the site beyond a limit; what does not grow always passes. */
export function checkQuota(usage: BucketUsage, asked: BucketUsage, limits: BucketLimits): void {
  refuseAbove('bucketBytes', 'bytes', {
    limit: limits.bucketBytes,
    used: usage.chargedBytes,
    asked: asked.chargedBytes,
  })
  refuseAbove('bucketObjects', 'objects', {
    limit: limits.bucketObjects,
    used: usage.chargedObjects,
    asked: asked.chargedObjects,
  })
}

function refuseAbove(
  name: keyof BucketLimits,
  unit: string,
  { limit, used, asked }: { readonly limit: number; readonly used: number; readonly asked: number },
): void {
  if (asked <= 0 || used + asked <= limit) return
  throw new AppError(
    'QuotaExceeded',
    `The buckets of this site may hold ${limit} ${unit} (limit "${name}"): ${used} are used or promised to open uploads, and this asks for ${asked} more`,
    { fields: { limit: { name, value: limit, used, asked } } },
  )
}
