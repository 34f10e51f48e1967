import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { writeFileAtomically } from './atomic-file.ts'

/** What a running service leaves in its data folder for the command line beside it; gone once it has stopped. */
export async function writeServiceFile(
  dataDir: string,
  running: {
    /** The listener's. */
    readonly url: string
    /** What the world calls it by: a name whose DNS or proxy may not exist yet. */
    readonly baseUrl: string
    readonly operatorUrl?: string
    readonly pid: number
  },
): Promise<AsyncDisposable> {
  const file = join(dataDir, 'service.json')
  await writeFileAtomically(file, `${JSON.stringify(running)}\n`, 0o644)
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}
