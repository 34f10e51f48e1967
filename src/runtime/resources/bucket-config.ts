import { type Static, Type } from '@sinclair/typebox'

/** A bucket has no settings yet. */
export const BucketConfig = Type.Object({}, { additionalProperties: false })
export type BucketConfig = Static<typeof BucketConfig>
