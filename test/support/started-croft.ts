import { join } from 'node:path'

import { CroftProcess } from './croft-process.ts'
import { openFolder } from './temporary-folder.ts'

/** The real program on a data folder of its own. Both go with the rest. */
export async function startCroft(
  started: AsyncDisposableStack,
  env: Readonly<Record<string, string>>,
): Promise<CroftProcess> {
  const folder = await openFolder(started, 'croft-')
  return started.use(await CroftProcess.start({ dataDir: join(folder, 'data'), env }))
}
