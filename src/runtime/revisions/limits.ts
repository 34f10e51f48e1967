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

/** The operator's settings of a site, as far as the runtime takes part in them. */
export interface RuntimeSettings {
  readonly egress: { readonly allow: readonly string[] }
  /** What is left out is the default. */
  readonly limits: { readonly [Name in keyof SiteLimits]?: SiteLimits[Name] | undefined }
}

export function siteLimits(settings: RuntimeSettings['limits']): SiteLimits {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(given) }
}

export const egressPolicy = (allow: readonly string[]): EgressPolicy => ({
  allow,
  maxResponseBytes: 10 * 1024 * 1024,
  timeoutMs: 30_000,
})
