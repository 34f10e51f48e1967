import { readdirSync, readFileSync } from 'node:fs'
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
 * Processor time of a process; undefined once it is gone: the code that watches it learns of that, and how it ended. It grows
 * without end where the system does not tell, so that nothing counts as starved.
 */
export function cpuMs(pid: number): number | undefined {
  if (process.platform !== 'linux') return performance.now()
  const fields = statFields(pid)
  if (!fields) return undefined
  return ticksMs(fields)
}

/** Processor time of each thread of a process, by its id. Empty where the system does not tell, or once it is gone. */
export function threadsCpuMs(pid: number): ReadonlyMap<string, number> {
  const folder = `/proc/${pid}/task`
  const used = new Map<string, number>()
  if (process.platform !== 'linux' || pid === 0) return used
  for (const thread of namesIn(folder)) {
    const fields = fieldsOf(proc(pid, `task/${thread}/stat`))
    if (fields) used.set(thread, ticksMs(fields))
  }
  return used
}

/** Whether a signal or a debugger has stopped the process. */
export function isStopped(pid: number): boolean {
  const [state = ''] = statFields(pid) ?? []
  return STOPPED.includes(state)
}

/** From the third field of proc_pid_stat(5) on: the second one, the name, may have anything in it. */
const statFields = (pid: number): string[] | undefined => fieldsOf(proc(pid, 'stat'))

const ticksMs = (fields: readonly string[]): number =>
  (Number(fields[11]) + Number(fields[12])) * TICK_MS

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function fieldsOf(stat: string): string[] | undefined {
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
