import type { AppContext } from '#context'

/** Works queues and schedules until what was started is disposed of. */
export function startWork(context: AppContext, started: AsyncDisposableStack): void {
  const working = new AbortController()
  const work = context.work(working.signal)
  started.defer(() => {
    working.abort()
    return work
  })
}
