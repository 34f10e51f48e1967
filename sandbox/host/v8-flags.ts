import { setFlagsFromString } from 'node:v8'

/**
 * - Each context is given `gc`, which the host keeps to itself.
 * - Maglev waits for 2000 calls of a function instead of 400. What it needs while it compiles is 3 MB for an isolate, and
 *   glibc keeps the most that was ever needed at once: a site that is called now and then does not get its worth.
 */
const FLAGS = ['--expose-gc', '--invocation-count-for-maglev=2000']

/** How V8 runs site code in this process. To be called before the first isolate is made. */
export const setIsolateFlags = (): void => FLAGS.forEach((flag) => setFlagsFromString(flag))

/**
 * Runs what makes a snapshot as if isolates were as small as ours: V8's cache of numbers as text grows with the largest
 * possible semi-space, is part of the snapshot, and would be 256 KB of every isolate.
 */
export function withSmallCaches<Result>(make: () => Result): Result {
  setFlagsFromString('--max-semi-space-size=1')
  try {
    return make()
  } finally {
    setFlagsFromString('--max-semi-space-size=0')
  }
}
