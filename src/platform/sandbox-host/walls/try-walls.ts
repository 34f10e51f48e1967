import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { jailCommand, type JailParts } from './jail-command.ts'
import { BUBBLEWRAP_WALLS, type Wall } from './walls.ts'

const TRY_MS = 10_000
const REASON_LENGTH = 300
/** What each next attempt goes without, until one succeeds: least comes first. */
const CONCESSIONS: readonly (readonly Wall[])[] = [
  [],
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
  const command = jailCommand(parts, walls, { entry, view: { reads: [], writes: [] } })
  const options = {
    env: { ...command.env },
    cwd: '/',
    timeout: TRY_MS,
    killSignal: 'SIGKILL',
  } as const
  try {
    await promisify(execFile)(command.file, [...command.args], options)
    return undefined
  } catch (error) {
    return failureOf(error)
  }
}

function failureOf(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  const text = stderr === '' ? String(error) : stderr
  return text.split('\n').slice(0, 3).join(' ').slice(0, REASON_LENGTH)
}
