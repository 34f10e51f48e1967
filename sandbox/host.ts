import { Piscina } from 'piscina'

import { snapshotFile } from './snapshot.ts'
import type { WorkerTask } from './worker.ts'

/** What the service tells a host process when it starts one. */
export interface HostOptions {
  readonly socketPath: string
  /** The marks of worker 0, 1, … are `{markPath}.0`, … */
  readonly progressPath: string
  readonly cacheDir: string
  /** The prelude's source. */
  readonly prelude: string
  readonly token: string
  readonly workers: number
  readonly warmIsolates: number
  /** Resident memory at which the service ends this process. */
  readonly memoryBytes: number
}

/** Serves until a connection to the service ends or a worker fails. */
export async function runHost(options: HostOptions): Promise<void> {
  const snapshotPath = snapshotFile(options.prelude, options.cacheDir)
  const pool = new Piscina<WorkerTask, void>({
    filename: new URL(import.meta.resolve('./worker.ts')).href,
    minThreads: options.workers,
    maxThreads: options.workers,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: 1,
    // The default parks a thread between tasks, and with it its sockets and timers.
    atomics: 'disabled',
    recordTiming: false,
  })
  const tasks = Array.from({ length: options.workers }, (_, index) =>
    pool.run({
      snapshotPath,
      socketPath: options.socketPath,
      progressPath: `${options.progressPath}.${index}`,
      hello: { token: options.token, index },
      warmIsolates: Math.max(1, Math.floor(options.warmIsolates / options.workers)),
      memoryBytes: options.memoryBytes,
    }),
  )
  await Promise.race(tasks)
}
