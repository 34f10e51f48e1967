import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** Returns the time at which a process started, as text that tells it from others with the same pid; undefined when there is none. */
export function processStart(pid: number): string | undefined {
  return existsSync('/proc/self/stat') ? startInProc(pid) : startByPs(pid)
}

/** Returns false for a process that has ended, even when its parent has not reaped it yet. */
export const isAlive = (pid: number): boolean => processStart(pid) !== undefined

/** Returns the command line, its words joined by spaces; empty when there is no such process. */
export function processCommand(pid: number): string {
  if (!existsSync('/proc/self/stat')) return ps(pid, 'command=') ?? ''
  return (readIfThere(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ')
}

function startInProc(pid: number): string | undefined {
  // The second field is the program's name in brackets, which may hold spaces: count from the last bracket.
  const fields = readIfThere(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ')
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined
  return fields[19]
}

function startByPs(pid: number): string | undefined {
  const answer = ps(pid, 'state=,lstart=')
  return answer === undefined || answer.startsWith('Z') ? undefined : answer.replace(/^\S+\s+/, '')
}

function ps(pid: number, columns: string): string | undefined {
  try {
    const answer = execFileSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' })
    return answer.trim() || undefined
  } catch {
    // ps fails when there is no such process.
    return undefined
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process is gone, or went between two reads.
    return undefined
  }
}
