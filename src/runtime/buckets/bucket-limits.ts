/** What the buckets of one site may hold together. */
export interface BucketLimits {
  readonly bucketBytes: number
  readonly bucketObjects: number
}

const DEFAULT_BUCKET_LIMITS: BucketLimits = {
  bucketBytes: 10 * 1024 ** 3,
  bucketObjects: 1_000_000,
}

/** The operator's settings of a site; what is left out is the default. */
export const bucketLimits = (settings: {
  readonly [Name in keyof BucketLimits]?: number | undefined
}): BucketLimits => ({
  bucketBytes: settings.bucketBytes ?? DEFAULT_BUCKET_LIMITS.bucketBytes,
  bucketObjects: settings.bucketObjects ?? DEFAULT_BUCKET_LIMITS.bucketObjects,
})
