import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import process from 'node:process'

/**
 * Lets other processes go first wherever both want the processor: with a `niceness` of 5 a process gets about a third
 * of the time of one that wants it as well. Linux keeps a value for each thread, and where sessions
 * are scheduled against each other one for the session. Does nothing where the system does not allow it.
 */
export function lowerPriority(pid: number, niceness: number): void {
  if (process.platform !== 'linux' || pid === 0) return
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceness)))
  attempt(() => {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), niceness)
  })
}

function attempt(action: () => void): void {
  try {
    action()
  } catch {
    // It has ended, or the system has no such setting: its limits still hold.
  }
}
