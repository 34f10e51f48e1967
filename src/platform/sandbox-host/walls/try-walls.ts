import { once } from 'node:events'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import type { ProcessEnd } from '#platform/sandbox-host/inner-process.ts'
import { startProcess } from '#platform/sandbox-host/start-process.ts'

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
 * that succeeds. No walls are left when it never does: the hosts' own failure then says more. Rejects, with no process
 * left, once the signal is aborted.
 */
export async function tryWalls(
  parts: JailParts,
  wanted: readonly Wall[],
  entry: string,
  signal?: AbortSignal,
): Promise<Attempts> {
  const failures = new Map<Wall, string>()
  const tried = new Set<string>()
  for (const conceded of CONCESSIONS) {
    const walls = wanted.filter((wall) => !conceded.includes(wall))
    if (tried.has(walls.join())) continue
    tried.add(walls.join())
    const failure = await attempt(parts, new Set(walls), { entry, signal })
    signal?.throwIfAborted()
    if (failure === undefined) return { standing: new Set(walls), failures }
    for (const wall of walls) failures.set(wall, failure)
  }
  return { standing: new Set(), failures }
}

/** Returns what went wrong; undefined when the process ended well. */
async function attempt(
  parts: JailParts,
  walls: ReadonlySet<Wall>,
  { entry, signal }: { readonly entry: string; readonly signal: AbortSignal | undefined },
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
    return await run(command, signal)
  } catch (error) {
    return String(error).slice(0, REASON_LENGTH)
  } finally {
    void command?.memory?.remove()
  }
}

async function run(
  command: HostCommand,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { child, stderr, kill, endOf } = startProcess(command, 'ignore')
  const late = setTimeout(kill, TRY_MS)
  signal?.addEventListener('abort', kill)
  if (signal?.aborted === true) kill()
  try {
    const [code, by] = await once(child, 'close')
    return failureOf(endOf({ code, signal: by }), stderr())
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', kill)
  }
}

function failureOf({ code, signal }: ProcessEnd, stderr: string): string | undefined {
  if (code === 0) return undefined
  // Node shows its own source first.
  const lines = stderr.trim().split('\n')
  const said = lines.find((line) => ERROR.test(line)) ?? lines[0] ?? ''
  const end = signal === null ? `it ended with ${code}` : `it was ended by ${signal}`
  return (said === '' ? end : said).slice(0, REASON_LENGTH)
}
