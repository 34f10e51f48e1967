import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

import { processCommand, processStart } from '#config/process-identity.ts'

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  readonly command: string
  /** Tells it apart from a later process with the same pid. */
  readonly started: string | undefined
}

/** Children, their children and so on, of a process that may be gone itself. */
export function childrenOf(pid: number): RunningProcess[] {
  const parents = parentTable()
  const found: RunningProcess[] = []
  for (let next = [pid]; next.length > 0;) {
    const level = parents.filter(({ parent }) => next.includes(parent))
    found.push(...level.map((one) => describe(one)))
    next = level.map((one) => one.pid)
  }
  return found.filter(({ started, command }) => started !== undefined && command !== '')
}

/** The process itself, not the walls around it. */
export const isNode = ({ command }: RunningProcess): boolean => /^\S*\bnode /.test(command)

/** One without a command line has given up its memory already: it has ended, and only waits to be asked how. */
export const isRunning = ({ pid, started }: RunningProcess): boolean =>
  started !== undefined && processStart(pid) === started && processCommand(pid) !== ''

interface Parentage {
  readonly pid: number
  readonly parent: number
}

const describe = ({ pid, parent }: Parentage): RunningProcess => ({
  pid,
  parent,
  command: processCommand(pid),
  started: processStart(pid),
})

function parentTable(): Parentage[] {
  if (!existsSync('/proc/self/stat')) {
    const rows = execFileSync('ps', ['-Ao', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    return rows.map((row) => {
      const [pid, parent] = row.trim().split(/\s+/).map(Number)
      return { pid: pid ?? 0, parent: parent ?? 0 }
    })
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }))
}

function parentOf(pid: string): number {
  try {
    // The second field is the program's name in brackets, which may hold spaces: count from the last bracket.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
  } catch {
    // It has ended.
    return -1
  }
}
