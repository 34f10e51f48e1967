import { readFileSync, readdirSync } from 'node:fs'

/** `USER_HZ` of Linux: what /proc counts in, on every architecture. */
const TICKS_PER_SECOND = 100

/** CPU seconds spent until now. */
export interface CpuReading {
  /** By the root of the process tree. */
  readonly trees: ReadonlyMap<number, number>
  /** Of the whole machine. */
  readonly busy: number
  readonly total: number
}

interface ProcessStat {
  readonly parent: number
  readonly ticks: number
}

/** Reads /proc, so it is for Linux only. Ended processes count in the parent that waited for them. */
export function readCpu(roots: readonly number[]): CpuReading {
  const processes = new Map<number, ProcessStat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(name) : undefined
    if (stat !== undefined) processes.set(Number(name), stat)
  }
  const trees = new Map(roots.map((root) => [root, 0]))
  for (const [pid, { ticks }] of processes) {
    const root = rootOf(pid, processes, trees)
    if (root !== undefined) trees.set(root, (trees.get(root) ?? 0) + ticks / TICKS_PER_SECOND)
  }
  return { trees, ...parseMachine(readFileSync('/proc/stat', 'utf8')) }
}

/** utime, stime, cutime and cstime of `/proc/[pid]/stat` (proc_pid_stat(5)); the name in parentheses may hold anything. */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const times = fields.slice(11, 15).map(Number)
  return { parent: Number(fields[1]), ticks: times.reduce((sum, ticks) => sum + ticks, 0) }
}

/** The first line of `/proc/stat` (proc_stat(5)); guest time is already in user time. */
export function parseMachine(text: string): { busy: number; total: number } {
  const line = text.slice(0, text.indexOf('\n'))
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number)
  const total = ticks.reduce((sum, value) => sum + value, 0)
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0)
  return { busy: (total - idle) / TICKS_PER_SECOND, total: total / TICKS_PER_SECOND }
}

/** Undefined for a process that ended while /proc was read. */
function readStat(pid: string): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

function rootOf(
  pid: number,
  processes: ReadonlyMap<number, ProcessStat>,
  roots: ReadonlyMap<number, unknown>,
): number | undefined {
  let at: number | undefined = pid
  while (at !== undefined && at > 1) {
    if (roots.has(at)) return at
    at = processes.get(at)?.parent
  }
  return undefined
}
