import type { BucketConfig } from './bucket-config.ts'

/** A resource of type `s3Bucket`: its objects are all that lies under its prefix in the object store. */
export interface Bucket {
  readonly siteId: string
  /** The resource's id. */
  readonly bucketId: string
  readonly config: BucketConfig
}
