import { readFileSync } from 'node:fs'
import process from 'node:process'

const TICK_MS = 10
/** States of proc_pid_stat(5). */
const STOPPED = ['T', 't']
const RSS_KIB = /^VmRSS:\s*(\d+) kB$/m

/** Resident memory of a process, whatever the size of its pages; 0 where the system does not tell. */
export function rssBytes(pid: number): number {
  return Number(RSS_KIB.exec(proc(pid, 'status'))?.[1] ?? 0) * 1024
}

/**
 * Processor time of a process; undefined once it is gone: who watches it hears of that, and how it ended. It grows without
 * end where the system does not tell, so that nothing counts as starved.
 */
export function cpuMs(pid: number): number | undefined {
  if (process.platform !== 'linux') return performance.now()
  const fields = statFields(pid)
  if (!fields) return undefined
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Whether a signal or a debugger has stopped the process. */
export function isStopped(pid: number): boolean {
  const [state = ''] = statFields(pid) ?? []
  return STOPPED.includes(state)
}

/** From the third field of proc_pid_stat(5) on: the second one, the name, may have anything in it. */
function statFields(pid: number): string[] | undefined {
  const stat = proc(pid, 'stat')
  return stat === '' ? undefined : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function proc(pid: number, file: string): string {
  if (process.platform !== 'linux' || pid === 0) return ''
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
