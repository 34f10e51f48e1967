import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { bundleGuest } from '#sandbox/guest/bundle.ts'

import { Lane } from './lane.ts'

/** What spins is stopped while there is time left to say what came before: a busy machine gives it less than a processor. */
const CPU_SHARE = 0.25

/** A lane of our own isolates, with the prelude as it is now. What loads may compute for 3 s in any case. */
export async function openIsolateLane(jobMs: number, running: AsyncDisposableStack): Promise<Lane> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  running.defer(() => rm(folder, { recursive: true, force: true }))
  const { prelude, parts } = await bundleGuest()
  await writeFile(join(folder, 'prelude.js'), prelude)
  await writeFile(join(folder, 'parts.json'), JSON.stringify(parts))
  return running.use(
    new Lane({ entry: 'isolate-process.ts', args: [folder, `${jobMs * CPU_SHARE}`], jobMs }),
  )
}

export const openNodeLane = (jobMs: number, running: AsyncDisposableStack): Lane =>
  running.use(new Lane({ entry: 'node-process.ts', args: [], jobMs }))
