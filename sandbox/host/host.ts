import { Piscina } from 'piscina'

import type { GuestScripts } from '#sandbox/protocol/part-names.ts'

import { snapshotFile } from './snapshot.ts'
import { setIsolateFlags } from './v8-flags.ts'
import type { WorkerTask } from './worker.ts'

/** What the service tells a host process when it starts one. */
export interface HostOptions extends WorkerTask {
  /** Where a snapshot is put when there is none that can be read. */
  readonly draftPath: string
  readonly prelude: GuestScripts['prelude']
}

/** Serves until the connection to the service ends or the worker fails. */
export async function runHost({ prelude, draftPath, ...options }: HostOptions): Promise<void> {
  setIsolateFlags()
  const snapshotPath = snapshotFile(prelude, { kept: options.snapshotPath, draft: draftPath })
  const pool = new Piscina<WorkerTask, void>({
    filename: new URL(import.meta.resolve('./worker.ts')).href,
    // An isolate that aborts takes the whole process with it: a second worker would be lost over the first.
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default parks a thread between tasks, and with it its sockets and timers.
    atomics: 'disabled',
    recordTiming: false,
  })
  await pool.run({ ...options, snapshotPath })
}
