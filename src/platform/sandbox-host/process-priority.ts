import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import process from 'node:process'

/** On the scale of `nice`: such a process gets about a tenth of the processor time of one that wants it as well. */
const BEHIND = 10

/**
 * Lets other processes go first wherever both want the processor. Linux keeps a value for each thread, and where sessions
 * are scheduled against each other one for the session. Does nothing where the system does not allow it.
 */
export function lowerPriority(pid: number): void {
  if (process.platform !== 'linux' || pid === 0) return
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(BEHIND)))
  attempt(() => {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), BEHIND)
  })
}

function attempt(action: () => void): void {
  try {
    action()
  } catch {
    // It has ended, or the system has no such setting: its limits still hold.
  }
}
