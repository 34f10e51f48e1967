import type { FromLane, Job } from './protocol.ts'

/** Takes jobs from the parent process, one at a time, until it closes the channel. */
export function serveJobs(
  run: (job: Job, send: (message: FromLane) => void) => Promise<void>,
): void {
  const send = (message: FromLane): void => void process.send?.(message)
  process.on('message', (job: Job) => {
    run(job, send).catch((error: unknown) =>
      send({ kind: 'ended', ending: 'crashed', message: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
  send({ kind: 'ready' })
}
