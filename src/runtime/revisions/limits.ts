import type { EgressPolicy } from '#platform/egress/egress.ts'
import type { SiteLimits } from '#platform/sandbox-host/sandbox.ts'

/** What one site may use where its operator says nothing else. Shown by `GET /admin/data/usage`. */
const DEFAULT_LIMITS: SiteLimits = {
  concurrency: 64,
  queueLength: 512,
  queueMs: 10_000,
  cpuMs: 1000,
  resultBytes: 6 * 1024 * 1024,
  logLineLength: 8192,
  logLines: 256,
}

/** What the buckets of one site may hold together. */
interface BucketLimits {
  readonly bucketBytes: number
  readonly bucketObjects: number
}

const DEFAULT_BUCKET_LIMITS: BucketLimits = {
  bucketBytes: 10 * 1024 ** 3,
  bucketObjects: 1_000_000,
}

/** What the tables of one site may hold together. */
export interface TableLimits {
  readonly tableBytes: number
  readonly tableItems: number
}

export const DEFAULT_TABLE_LIMITS: TableLimits = {
  tableBytes: 10 * 1024 ** 3,
  tableItems: 10_000_000,
}

export type RuntimeLimits = SiteLimits & BucketLimits & TableLimits

/** The operator's settings of a site, as far as the runtime takes part in them. */
export interface RuntimeSettings {
  readonly egress: { readonly allow: readonly string[] }
  /** What is left out is the default. */
  readonly limits: { readonly [Name in keyof RuntimeLimits]?: RuntimeLimits[Name] | undefined }
}

export function siteLimits(settings: RuntimeSettings['limits']): SiteLimits {
  return withDefaults(DEFAULT_LIMITS, settings)
}

export function bucketLimits(settings: RuntimeSettings['limits']): BucketLimits {
  return withDefaults(DEFAULT_BUCKET_LIMITS, settings)
}

/** All of them. */
export const runtimeLimits = (settings: RuntimeSettings['limits']): RuntimeLimits => ({
  ...siteLimits(settings),
  ...bucketLimits(settings),
  ...withDefaults(DEFAULT_TABLE_LIMITS, settings),
})

export const egressPolicy = (allow: readonly string[]): EgressPolicy => ({
  allow,
  maxResponseBytes: 10 * 1024 * 1024,
  timeoutMs: 30_000,
})

function withDefaults<Limits extends object>(defaults: Limits, settings: object): Limits {
  const given = Object.entries(settings).filter(
    ([name, value]) => Object.hasOwn(defaults, name) && value !== undefined,
  )
  return { ...defaults, ...Object.fromEntries(given) }
}
