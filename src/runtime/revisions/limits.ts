import type { EgressPolicy } from '#platform/egress/egress.ts'
import type { SiteLimits } from '#platform/sandbox-host/sandbox.ts'
import { type BucketLimits, bucketLimits } from '#runtime/buckets/bucket-limits.ts'
import { DEFAULT_TABLE_LIMITS, type TableLimits } from '#runtime/tables/table-limits.ts'

/** What one site may use where its operator says nothing else. Shown by `GET /admin/data/usage`. */
const DEFAULT_LIMITS: SiteLimits = {
  concurrency: 64,
  suspendedCalls: 1000,
  openStreams: 5000,
  queueLength: 512,
  queueMs: 10_000,
  cpuMs: 1000,
  resultBytes: 6 * 1024 * 1024,
  logLineLength: 8192,
  logLines: 256,
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
