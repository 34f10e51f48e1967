import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import process from 'node:process'

/** The name of the processes around the one that a jail is for. */
const WRAPPER = 'bwrap'
/** How a shell, and bubblewrap, say that a signal ended what they ran. */
const ENDED_BY_SIGNAL = 128

export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Whether the kernel tells which processes another one has started. */
export const tellsChildren = (): boolean => existsSync(childrenFile(process.pid))

/** Processes as they are at the moment that one asks: what was true of one may not be a moment later. */
export interface ProcessTree {
  /** Undefined when there is no such process. */
  nameOf(pid: number): string | undefined
  firstChildOf(pid: number): number | undefined
}

const running: ProcessTree = {
  nameOf: (pid) => read(`/proc/${pid}/comm`)?.trim(),
  firstChildOf(pid) {
    const [first = ''] = read(childrenFile(pid))?.split(' ') ?? []
    return first === '' ? undefined : Number(first)
  },
}

/**
 * The process inside bubblewrap's own two; undefined while there is none yet. The names are asked for from the outside in:
 * before it is bubblewrap, the outer one is a shell, whose children are no process of ours.
 */
export function innerPid(outerPid: number, tree = running): number | undefined {
  let pid = firstInside(outerPid, tree)
  while (pid !== undefined) {
    const name = tree.nameOf(pid)
    if (name !== WRAPPER) return name === undefined ? undefined : pid
    pid = tree.firstChildOf(pid)
  }
  return undefined
}

/** The process whose end is the end of all inside, once there is one. */
export const firstInside = (outerPid: number, tree = running): number | undefined =>
  tree.nameOf(outerPid) === WRAPPER ? tree.firstChildOf(outerPid) : undefined

/** What ended the process inside, of which the outer one gives only a number. */
export function innerEnd(end: ProcessEnd): ProcessEnd {
  const number = (end.code ?? 0) - ENDED_BY_SIGNAL
  const found = Object.entries(constants.signals).find(([, value]) => value === number)
  return found === undefined ? end : { code: null, signal: found[0] as NodeJS.Signals }
}

/**
 * Ends what is left of the process group of a leader that has been reaped. Its pid is used again only where nothing is left: then
 * it ends nothing.
 */
export function endGroup(leaderPid: number): void {
  if (leaderPid <= 1 || existsSync(`/proc/${leaderPid}`)) return
  try {
    process.kill(-leaderPid, 'SIGKILL')
  } catch {
    // Mostly, all of it has ended.
  }
}

const childrenFile = (pid: number): string => `/proc/${pid}/task/${pid}/children`

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended.
    return undefined
  }
}
