/**
 * How many runs of jobs go at once in one process. Nearly all that a run does is wait, and what it computes the sandbox shares out
 * between sites; so these bound memory and what one site may hold, and never the processor. Runs by hand and ticks have places of
 * their own, and each kind keeps some for sites that have none of it running: whatever others do, those begin at once.
 */
export interface RunLimits {
  /** Runs of any site. */
  readonly concurrency: number
  /** Runs of one site, in all processes. */
  readonly perSite: number
  /** Further runs, each of a site without one. */
  readonly oneEach: number
}

const SHARED = 32
const TICKS_PER_SITE = 16
const BY_HAND_PER_SITE = 8
const FEWEST_SITES = 8
const MOST_SITES = 64
/** A run holds an isolate in memory: ticks of other sites and runs by hand each get a quarter of those that fit, visitors the rest. */
const SHARE_OF_ISOLATES = 4

/** `warmIsolates` is how many sites fit into the memory of one host. */
export function runLimits(warmIsolates: number): {
  readonly ticks: RunLimits
  readonly byHand: RunLimits
} {
  const share = Math.floor(warmIsolates / SHARE_OF_ISOLATES)
  const oneEach = Math.min(MOST_SITES, Math.max(FEWEST_SITES, share))
  const shared = { concurrency: SHARED, oneEach }
  return {
    ticks: { ...shared, perSite: TICKS_PER_SITE },
    byHand: { ...shared, perSite: BY_HAND_PER_SITE },
  }
}
