import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'

import { jailCommand, type JailParts } from './jail-command.ts'
import { BUBBLEWRAP_WALLS, type Wall } from './walls.ts'

const TRY_MS = 10_000
const MEMORY_BYTES = 512 * 1024 * 1024
const REASON_LENGTH = 300
/** `Error: …`, `TypeError [ERR_…]: …` */
const ERROR = /^\w*Error\b.*:/
/** What each next attempt goes without, until one succeeds: least comes first. */
const CONCESSIONS: readonly (readonly Wall[])[] = [
  [],
  ['memory'],
  ['permissions'],
  ['syscalls'],
  ['user'],
  ['user', 'syscalls'],
  [...BUBBLEWRAP_WALLS, 'syscalls'],
  [...BUBBLEWRAP_WALLS, 'syscalls', 'user'],
  [...BUBBLEWRAP_WALLS, 'syscalls', 'user', 'permissions'],
]

export interface Attempts {
  readonly standing: ReadonlySet<Wall>
  /** Why the others do not stand. */
  readonly failures: ReadonlyMap<Wall, string>
}

/**
 * Starts `entry`, which loads what the sandbox needs and ends, behind all the walls, then behind fewer and fewer until
 * that succeeds. No walls are left when it never does: the hosts' own failure then says more.
 */
export async function tryWalls(
  parts: JailParts,
  wanted: readonly Wall[],
  entry: string,
): Promise<Attempts> {
  const failures = new Map<Wall, string>()
  const tried = new Set<string>()
  for (const conceded of CONCESSIONS) {
    const walls = wanted.filter((wall) => !conceded.includes(wall))
    if (tried.has(walls.join())) continue
    tried.add(walls.join())
    const failure = await attempt(parts, new Set(walls), entry)
    if (failure === undefined) return { standing: new Set(walls), failures }
    for (const wall of walls) failures.set(wall, failure)
  }
  return { standing: new Set(), failures }
}

/** Returns what went wrong; undefined when the process ended well. */
async function attempt(
  parts: JailParts,
  walls: ReadonlySet<Wall>,
  entry: string,
): Promise<string | undefined> {
  const program = {
    entry,
    arguments: walls.has('user') ? [String(parts.uid)] : [],
    view: { reads: [], writes: [] },
    memoryBytes: MEMORY_BYTES,
  }
  let command: HostCommand | undefined
  try {
    command = jailCommand(parts, walls, program)
    const { file, args, env } = command
    await promisify(execFile)(file, [...args], {
      env: { ...env },
      cwd: '/',
      timeout: TRY_MS,
      killSignal: 'SIGKILL',
    })
    return undefined
  } catch (error) {
    return failureOf(error)
  } finally {
    command?.memory?.remove()
  }
}

function failureOf(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  const text = stderr === '' ? String(error) : stderr
  // Node shows its own source first.
  const lines = text.split('\n')
  return (lines.find((line) => ERROR.test(line)) ?? lines[0] ?? '').slice(0, REASON_LENGTH)
}
