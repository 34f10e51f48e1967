import { randomBytes } from 'node:crypto'
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { tellsChildren } from '#platform/sandbox-host/inner-process.ts'

import { detectIsolation } from './detect-isolation.ts'
import {
  BUBBLEWRAP_LAYERS,
  requiredLayers,
  type IsolationLayer,
  ISOLATION_LAYERS,
  type LayerState,
} from './isolation-layers.ts'
import type { JailParts } from './jail-command.ts'
import { Jail } from './jail.ts'
import { MemoryGroups } from './memory-groups.ts'
import { architectureOf, seccompFilter } from './seccomp-filter.ts'
import { librariesOf } from './visible-files.ts'

/** Where programs are that no setting names. */
const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']
/** Hosts that come and go besides those that are asked for, and the process that reads code. */
const MORE_PROCESSES = 6
const THREADS_OF_PROCESS = 16

export interface JailOptions {
  readonly node: string
  /** Loads what the sandbox needs, and ends. */
  readonly probe: string
  /** Where the filter for the kernel is kept; private to the service. */
  readonly cacheDir: string
  readonly uid: number
  /** Host processes. */
  readonly hosts: number
  /** Whether to refuse where a layer of a jail is missing. */
  readonly require: 'jail' | undefined
  readonly logger: Logger
  /** For tests alone: walls that are left out, as if this machine did not have them. */
  readonly without?: ReadonlySet<IsolationLayer>
  /** Ends the attempts: then it rejects, and leaves no process. */
  readonly signal?: AbortSignal
}

/**
 * Finds out which isolation layers this machine has by starting a process behind them once. Throws a `SetupError` when one is
 * required that does not.
 */
export async function openJail(options: JailOptions): Promise<Jail> {
  const parts = await findParts(options)
  const missing = missingParts(parts, options.without ?? new Set())
  const wanted = ISOLATION_LAYERS.filter((layer) => !missing.has(layer))
  const { active, errors } = await detectIsolation(parts, wanted, options.probe, options.signal)
  const layers = ISOLATION_LAYERS.map((layer): LayerState => {
    const needed = requiredLayers(parts.isRoot).includes(layer)
    if (active.has(layer)) return { wall: layer, stands: true, reason: null, needed }
    const reason = missing.get(layer) ?? errors.get(layer) ?? 'unknown'
    return { wall: layer, stands: false, reason, needed }
  })
  report(layers, options)
  return new Jail(parts, layers)
}

async function findParts({ node, uid, hosts, cacheDir }: JailOptions): Promise<JailParts> {
  const [bubblewrap, setpriv] = await Promise.all([findProgram('bwrap'), findProgram('setpriv')])
  const programs = [node, ...(setpriv === undefined ? [] : [setpriv])]
  const isLinux = process.platform === 'linux'
  return {
    node,
    uid,
    cacheDir,
    bubblewrap,
    setpriv,
    isRoot: process.getuid?.() === 0,
    givesCapabilities: isLinux && process.getuid?.() !== 0 && (await hasAmbientCapabilities()),
    maxThreads: 2 * (hosts + MORE_PROCESSES) * (THREADS_OF_PROCESS + 2 * availableParallelism()),
    filterPath: await writeFilter(cacheDir),
    memoryGroups: isLinux ? MemoryGroups.find() : undefined,
    libraries: isLinux && bubblewrap !== undefined ? await librariesOf(programs) : [],
  }
}

/** capabilities(7): the ambient set is what a program keeps that a user other than root executes. */
async function hasAmbientCapabilities(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8')
  return !/^CapAmb:\t0*$/m.test(status)
}

async function findProgram(name: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  for (const path of PROGRAM_FOLDERS.map((folder) => join(folder, name))) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

/** Another service may start on the same folder: the file is there whole, or not at all. */
async function writeFilter(cacheDir: string): Promise<string> {
  const path = join(cacheDir, 'seccomp.bpf')
  const architecture = architectureOf(process.arch)
  if (architecture === undefined) return path
  const filter = seccompFilter(architecture)
  const present = await readFile(path).catch(() => undefined)
  if (present?.equals(filter) === true) return path
  await mkdir(cacheDir, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, filter, { mode: 0o600 })
  await rename(draft, path)
  return path
}

/** The walls that need not be tried, and why. */
function missingParts(
  parts: JailParts,
  without: ReadonlySet<IsolationLayer>,
): Map<IsolationLayer, string> {
  const missing = new Map<IsolationLayer, string>()
  const miss = (layers: readonly IsolationLayer[], reason: string): void => {
    for (const layer of layers) if (!missing.has(layer)) missing.set(layer, reason)
  }
  miss([...without], 'left out')
  if (process.platform !== 'linux') {
    miss([...BUBBLEWRAP_LAYERS, 'syscalls', 'user', 'memory'], 'only Linux has it')
  }
  if (process.platform === 'win32') miss(['limits'], 'Windows has no such limits')
  const withBubblewrap: IsolationLayer[] = [...BUBBLEWRAP_LAYERS, 'syscalls']
  const fault = bubblewrapFault(parts)
  if (fault !== undefined) miss(withBubblewrap, fault)
  if (architectureOf(process.arch) === undefined)
    miss(['syscalls'], `not known for ${process.arch}`)
  if (!parts.isRoot) miss(['user'], 'the service is not root, and has no other user to give')
  if (!parts.memoryGroups) miss(['memory'], 'no control group that this service may divide')
  if (parts.setpriv === undefined) miss(['user'], 'setpriv (of util-linux) is not installed')
  return missing
}

function bubblewrapFault(parts: JailParts): string | undefined {
  if (parts.bubblewrap === undefined) return 'bubblewrap is not installed'
  if (parts.givesCapabilities && parts.setpriv === undefined) {
    return 'bubblewrap starts with no capabilities: install setpriv (of util-linux)'
  }
  return tellsChildren() ? undefined : 'the kernel does not tell the children of a process'
}

function report(
  layers: readonly LayerState[],
  { require, logger }: Pick<JailOptions, 'require' | 'logger'>,
): void {
  const missing = layers.filter(({ stands }) => !stands)
  const active = layers.filter(({ stands }) => stands).map(({ wall: layer }) => layer)
  const reasons = Object.fromEntries(missing.map(({ wall: layer, reason }) => [layer, reason]))
  const needed = missing.filter((layer) => layer.needed)
  if (require === 'jail' && needed.length > 0) {
    const faults = needed.map(({ wall: layer, reason }) => `  - ${layer}: ${reason}`).join('\n')
    throw new SetupError(
      `CROFT_SANDBOX_REQUIRE=jail, but these isolation layers of the sandbox are missing:\n${faults}`,
    )
  }
  const isJail = needed.length === 0
  logger[isJail ? 'info' : 'warn'](
    { standing: active, missing: reasons },
    'walls around the sandbox',
  )
}
