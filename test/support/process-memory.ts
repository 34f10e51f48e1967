import { readFileSync } from 'node:fs'

import type { CroftProcess } from './croft-process.ts'

const PSS_KIB = /^Pss:\s*(\d+) kB$/m

/** Memory of a process, in MiB: what several share is divided among those that share it. */
export function pssMib(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(PSS_KIB.exec(rollup)?.[1] ?? 0) / 1024
  } catch {
    // It has ended.
    return 0
  }
}

/** Of the service and of all under it. */
export const memoryMib = (croft: CroftProcess): number =>
  [croft.pid, ...croft.processes().map(({ pid }) => pid)].reduce((sum, pid) => sum + pssMib(pid), 0)
