import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import type { Clock } from '#base/clock.ts'

/** Age at which a folder counts as left behind by a killed process. Nothing that has one takes as long. */
const LEFTOVER_MS = 3_600_000
const PREFIX = 'work-'

export interface WorkFolderDeps {
  readonly clock: Clock
  /** The absolute folder for what is being read or written for a while. It is made where it is missing. */
  readonly workDir: string
}

/** An empty folder for as long as it is needed. */
export interface WorkFolder extends AsyncDisposable {
  readonly path: string
}

/** Makes an empty folder, and removes those that killed processes left. */
export async function openWorkFolder({ workDir, clock }: WorkFolderDeps): Promise<WorkFolder> {
  await mkdir(workDir, { recursive: true, mode: 0o700 })
  const oldestMs = clock.now().getTime() - LEFTOVER_MS
  for (const name of await readdir(workDir)) {
    const path = join(workDir, name)
    const stats = await stat(path).catch(() => undefined)
    if (stats && stats.mtimeMs < oldestMs) await remove(path)
  }
  const path = await mkdtemp(join(workDir, PREFIX))
  return { path, [Symbol.asyncDispose]: () => remove(path) }
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true })
