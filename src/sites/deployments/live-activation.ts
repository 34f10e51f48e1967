/** How long after its activation a deployment is watched. */
const WATCHED_MS = 60_000

/** The activation that a revision's code is of, as the revision keeps it. */
export interface LiveActivation {
  readonly number: number
  /** ISO 8601. */
  readonly activatedAt: string
}

/** The same, as calls look at it. */
export interface WatchedCode {
  readonly activationNumber: number
  /** In milliseconds since 1970. */
  readonly watchedUntilMs: number
}

export const watchedCode = ({ number, activatedAt }: LiveActivation): WatchedCode => ({
  activationNumber: number,
  watchedUntilMs: Date.parse(activatedAt) + WATCHED_MS,
})
