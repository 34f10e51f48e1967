/**
 * What the work resolves with or, after so long, what `late` gives or throws. The work goes on: the caller ends it where that
 * matters.
 */
export async function withTimeout<Result, Late = never>(
  work: Promise<Result>,
  timeoutMs: number,
  late: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  try {
    return await Promise.race([work, promise.then(late)])
  } finally {
    clearTimeout(timer)
  }
}

/** What the work resolves with, or the fallback where it fails or takes too long. */
export const withFallback = <Result, Fallback>(
  work: Promise<Result>,
  timeoutMs: number,
  fallback: Fallback,
): Promise<Result | Fallback> =>
  withTimeout(
    work.catch(() => fallback),
    timeoutMs,
    () => fallback,
  )
