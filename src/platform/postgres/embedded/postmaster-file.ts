import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ifMissing } from '#base/error-code.ts'
import { processCommand, processStart } from '#config/process-identity.ts'

export interface RunningPostmaster {
  readonly pid: number
  readonly port: number
  readonly status: 'starting' | 'ready' | 'stopping' | 'other'
}

/** What `postmaster.pid` says of the server of this cluster; undefined when none runs, whatever the file says. */
export async function findPostmaster(cluster: string): Promise<RunningPostmaster | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(ifMissing(''))
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isPostmaster(pid, cluster)) return undefined
  return { pid, port: Number(lines[3]), status: parseStatus(lines[7]?.trim()) }
}

/** After a crash and a reboot the same pid may belong to anyone. */
const isPostmaster = (pid: number, cluster: string): boolean =>
  processStart(pid) !== undefined && processCommand(pid).includes(cluster)

function parseStatus(word: string | undefined): RunningPostmaster['status'] {
  if (word === 'ready' || word === 'starting' || word === 'stopping') return word
  return word === undefined || word === '' ? 'starting' : 'other'
}
