import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One that goes with the rest. */
export async function temporaryFolder(
  started: AsyncDisposableStack,
  prefix: string,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A folder that every user may enter: as root the database runs as another user. */
export async function openFolder(started: AsyncDisposableStack, prefix: string): Promise<string> {
  const folder = await temporaryFolder(started, prefix)
  await chmod(folder, 0o755)
  return folder
}
