import { readFileSync } from 'node:fs'
import process from 'node:process'

const TICK_MS = 10
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
  const fields = proc(pid, 'stat').split(') ')[1]?.split(' ')
  if (!fields) return undefined
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

function proc(pid: number, file: string): string {
  if (process.platform !== 'linux' || pid === 0) return ''
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
