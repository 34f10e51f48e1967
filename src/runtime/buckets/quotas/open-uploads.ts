import { AppError } from '#base/app-error.ts'
import type { BucketLimits } from '#runtime/buckets/bucket-limits.ts'

import { UPKEEP_MS } from './times.ts'

/** The shares of a site's `bucketBytes` and `bucketObjects` that presets may promise to all their callers, and to one of them. */
const ALL_CALLERS = 1 / 2
const ONE_CALLER = 1 / 8
/** Open URLs are counted at each promise. */
const MOST_URLS = 4096
const MOST_URLS_OF_ONE = 256

/** The upload URLs of presets that still work. */
export interface OpenUploads {
  /** What they may bring beyond what is stored under their keys. */
  readonly bytes: number
  readonly urls: number
  /** When the next of them ends. */
  readonly nextEnd: Date
}

/** Throws `TooManyRequests` where one caller, or all of them, hold more of the site's room than what is theirs. */
export function checkOpenUploads(
  open: { readonly one: OpenUploads; readonly all: OpenUploads },
  limits: BucketLimits,
  now: Date,
): void {
  refuseAbove(open.one, {
    what: 'Your open upload URLs',
    name: 'openUploadsOfOneCaller',
    bytes: Math.floor(limits.bucketBytes * ONE_CALLER),
    urls: Math.min(MOST_URLS_OF_ONE, Math.ceil(limits.bucketObjects * ONE_CALLER)),
    now,
  })
  refuseAbove(open.all, {
    what: 'The open upload URLs of this site’s visitors',
    name: 'openUploadsOfVisitors',
    bytes: Math.floor(limits.bucketBytes * ALL_CALLERS),
    urls: Math.min(MOST_URLS, Math.ceil(limits.bucketObjects * ALL_CALLERS)),
    now,
  })
}

interface OpenUploadLimits {
  readonly what: string
  readonly name: string
  readonly bytes: number
  readonly urls: number
  readonly now: Date
}

function refuseAbove(open: OpenUploads, { what, name, now, ...most }: OpenUploadLimits): void {
  const unit = open.bytes > most.bytes ? 'bytes' : 'urls'
  if (open[unit] <= most[unit]) return
  const thing = unit === 'bytes' ? 'promise more bytes' : 'be more'
  // Room is given back by the upkeep that follows the end.
  const waitMs = open.nextEnd.getTime() - now.getTime() + UPKEEP_MS
  throw new AppError(
    'TooManyRequests',
    `${what} may not ${thing} than ${most[unit]}: upload what was asked for, or wait until the URLs have expired`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      fields: { retryable: true, limit: { name, value: most[unit], used: open[unit], unit } },
    },
  )
}
