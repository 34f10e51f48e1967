import { once } from 'node:events'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import type { ProcessEnd } from '#platform/sandbox-host/inner-process.ts'
import { startProcess } from '#platform/sandbox-host/start-process.ts'

import { BUBBLEWRAP_LAYERS, type IsolationLayer } from './isolation-layers.ts'
import { jailCommand, type JailParts } from './jail-command.ts'

const TRY_MS = 10_000
const MEMORY_BYTES = 512 * 1024 * 1024
const REASON_LENGTH = 300
/** `Error: …`, `TypeError [ERR_…]: …` */
const ERROR = /^\w*Error\b.*:/
/** What each next attempt goes without, until one succeeds: least comes first. */
const CONCESSIONS: readonly (readonly IsolationLayer[])[] = [
  [],
  ['memory'],
  ['permissions'],
  ['syscalls'],
  ['user'],
  ['user', 'syscalls'],
  [...BUBBLEWRAP_LAYERS, 'syscalls'],
  [...BUBBLEWRAP_LAYERS, 'syscalls', 'user'],
  [...BUBBLEWRAP_LAYERS, 'syscalls', 'user', 'permissions'],
]

export interface DetectedIsolation {
  readonly active: ReadonlySet<IsolationLayer>
  /** Why the others are missing. */
  readonly errors: ReadonlyMap<IsolationLayer, string>
}

/**
 * Starts `entry`, which loads what the sandbox needs and ends, behind all the walls, then behind fewer and fewer until
 * that succeeds. No walls are left when it never does: the hosts' own failure then says more. Rejects, with no process
 * left, once the signal is aborted.
 */
export async function detectIsolation(
  parts: JailParts,
  wanted: readonly IsolationLayer[],
  entry: string,
  signal?: AbortSignal,
): Promise<DetectedIsolation> {
  const errors = new Map<IsolationLayer, string>()
  const tried = new Set<string>()
  for (const conceded of CONCESSIONS) {
    const layers = wanted.filter((layer) => !conceded.includes(layer))
    if (tried.has(layers.join())) continue
    tried.add(layers.join())
    const failure = await attempt(parts, new Set(layers), { entry, signal })
    signal?.throwIfAborted()
    if (failure === undefined) return { active: new Set(layers), errors }
    for (const layer of layers) errors.set(layer, failure)
  }
  return { active: new Set(), errors }
}

/** Returns what went wrong; undefined when the process ended well. */
async function attempt(
  parts: JailParts,
  layers: ReadonlySet<IsolationLayer>,
  { entry, signal }: { readonly entry: string; readonly signal: AbortSignal | undefined },
): Promise<string | undefined> {
  const program = {
    entry,
    arguments: layers.has('user') ? [String(parts.uid)] : [],
    view: { reads: [], writes: [] },
    memoryBytes: MEMORY_BYTES,
  }
  let command: HostCommand | undefined
  try {
    command = jailCommand(parts, layers, program)
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
    return errorOf(endOf({ code, signal: by }), stderr())
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', kill)
  }
}

function errorOf({ code, signal }: ProcessEnd, stderr: string): string | undefined {
  if (code === 0) return undefined
  // Node shows its own source first.
  const lines = stderr.trim().split('\n')
  const said = lines.find((line) => ERROR.test(line)) ?? lines[0] ?? ''
  const end = signal === null ? `it ended with ${code}` : `it was ended by ${signal}`
  return (said === '' ? end : said).slice(0, REASON_LENGTH)
}
