/** How often what was promised to uploads is looked after, while there are any. */
export const UPKEEP_MS = 10 * 60_000
/** A planned upkeep that is this late is lost, and planned again. */
export const UPKEEP_LATE_MS = 60 * 60_000
/** How often everything is counted again, on sites where something happens. */
export const RECOUNT_MS = 24 * 60 * 60_000

/** Slower uploads are settled by the next recount. */
const SLOWEST_BYTES_PER_MS = 64
const SHORTEST_UPLOAD_MS = 15 * 60_000

/** How long an upload may be on its way. */
export const uploadMs = (sizeBytes: number): number =>
  SHORTEST_UPLOAD_MS + Math.ceil(sizeBytes / SLOWEST_BYTES_PER_MS)
