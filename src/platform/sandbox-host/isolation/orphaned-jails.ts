import { readFileSync, readdirSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'

import { jailMark } from './bubblewrap.ts'

/** One that is starting may make another process while it is killed. */
const ATTEMPTS = 50
const WAIT_MS = 20

/**
 * Ends the jails that a service on this folder left when it was killed, and returns their pids: one whose start was not
 * complete waits for ever. Call it with the lock on the folder, before the first jail starts. Only processes of this user with
 * the mark of this very folder are ended.
 */
export async function endOrphanedJails(cacheDir: string): Promise<readonly number[]> {
  const ended = new Set<number>()
  if (process.platform !== 'linux') return []
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const left = jailsOf(cacheDir)
    if (left.length === 0) break
    for (const pid of left) {
      kill(pid)
      ended.add(pid)
    }
    await delay(WAIT_MS)
  }
  return [...ended]
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended with another one.
  }
}

/** The processes of bubblewrap, and those that become one, with the mark of that folder. */
export function jailsOf(cacheDir: string): readonly number[] {
  const mark = `\0${jailMark(cacheDir).join('\0')}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => read(`/proc/${name}/cmdline`).includes(mark))
    .filter((name) => isOwn(read(`/proc/${name}/status`)))
    .map(Number)
}

/** By its real and its effective user. */
function isOwn(status: string): boolean {
  const uid = process.getuid?.()
  return status.includes(`\nUid:\t${uid}\t${uid}\t`)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}
