const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis

/** Stands in for `@std/async`. */
export const delay = (ms: number, { signal }: { signal?: AbortSignal } = {}): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = startTimer(resolve, ms)
    signal?.addEventListener('abort', () => {
      stopTimer(timer)
      reject(signal.reason)
    })
  })

export async function deadline<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = startTimer(
    () => late.reject(new DOMException('Signal timed out.', 'TimeoutError')),
    ms,
  )
  return Promise.race([promise, late.promise]).finally(() => stopTimer(timer))
}
