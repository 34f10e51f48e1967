import { type Static, Type } from '@sinclair/typebox'

import { ClosedObject } from '#base/closed-object.ts'

/** The most that S3 takes in one PUT. */
const MAX_PUT_BYTES = 5 * 1024 ** 3

export const BucketConfig = ClosedObject({
  /** Larger objects are refused; left out, only the object store's own bound and the site's quota count. */
  maxObjectBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PUT_BYTES })),
})
export type BucketConfig = Static<typeof BucketConfig>
