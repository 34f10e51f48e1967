import { mkdtemp, rm } from 'node:fs/promises'
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
