import { withTimeout } from '#base/with-timeout.ts'
import { CommandError } from '#cli/errors.ts'

/** How long one function may take to be bundled. */
const MAX_MS = 60_000
const PROGRESS_EVERY_MS = 5000

export interface BundlingTime {
  /** A line about what goes on. */
  readonly progress: (line: string) => void
  /** Milliseconds for one function; 60 000 when left out. */
  readonly maxMs?: number | undefined
}

/** Rejects when `work` takes too long. It goes on then: the caller ends it. */
export async function withinTime<Result>(
  path: string,
  work: () => Promise<Result>,
  { progress, maxMs = MAX_MS }: BundlingTime,
): Promise<Result> {
  const startedMs = performance.now()
  const telling = setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    progress(`Bundling "${path}": ${seconds} s of at most ${maxMs / 1000} s`)
  }, PROGRESS_EVERY_MS)
  try {
    return await withTimeout(work(), maxMs, () => {
      throw new CommandError(tooLong(path, maxMs))
    })
  } finally {
    clearInterval(telling)
  }
}

const tooLong = (path: string, maxMs: number): string =>
  `"${path}" was not bundled within ${maxMs / 1000} s; nothing was changed. It reaches too many modules, or its modules pass "export *" on to one another in too many ways: export and import by name there`
