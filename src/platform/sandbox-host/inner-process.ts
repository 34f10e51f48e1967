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

/** The process inside bubblewrap's own two; undefined while there is none yet. */
export function innerPid(outerPid: number): number | undefined {
  let pid = outerPid
  for (let child = firstChild(pid); child !== undefined; child = firstChild(pid)) pid = child
  return pid === outerPid || !isWrapper(outerPid) || isWrapper(pid) ? undefined : pid
}

/** The process whose end is the end of all inside, once there is one. */
export const firstInside = (outerPid: number): number | undefined =>
  isWrapper(outerPid) ? firstChild(outerPid) : undefined

/** What ended the process inside, of which the outer one gives only a number. */
export function innerEnd(end: ProcessEnd): ProcessEnd {
  const number = (end.code ?? 0) - ENDED_BY_SIGNAL
  const found = Object.entries(constants.signals).find(([, value]) => value === number)
  return found === undefined ? end : { code: null, signal: found[0] as NodeJS.Signals }
}

const isWrapper = (pid: number): boolean => read(`/proc/${pid}/comm`).trim() === WRAPPER

function firstChild(pid: number): number | undefined {
  const [first = ''] = read(childrenFile(pid)).split(' ')
  return first === '' ? undefined : Number(first)
}

const childrenFile = (pid: number): string => `/proc/${pid}/task/${pid}/children`

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}
