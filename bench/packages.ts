import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const FOLDER = new URL('packages/', import.meta.url)
const INSTALLED = new URL('node_modules/.package-lock.json', FOLDER)
const WANTED = new URL('package-lock.json', FOLDER)

/** Installs what only the benchmarks need, unless it is there as the lock file has it. */
export async function installPackages(progress: (words: string) => void): Promise<void> {
  const [installedMs, wantedMs] = await Promise.all([INSTALLED, WANTED].map(changedMs))
  if (installedMs !== undefined && wantedMs !== undefined && installedMs >= wantedMs) return
  progress('installing bench/packages')
  await promisify(execFile)('npm', ['ci', '--prefix', fileURLToPath(FOLDER)])
}

async function changedMs(file: URL): Promise<number | undefined> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}
