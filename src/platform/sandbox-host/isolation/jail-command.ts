import process from 'node:process'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'

import { bubblewrapArguments, FILTER_FD, type View } from './bubblewrap.ts'
import { BUBBLEWRAP_LAYERS, type IsolationLayer } from './isolation-layers.ts'
import type { MemoryGroups } from './memory-groups.ts'
import { asUser, withoutCapabilities } from './sandbox-user.ts'
import { filesOfEntry, withTargets } from './visible-files.ts'

/** isolated-vm asks for the first: https://github.com/laverdet/isolated-vm#requirements */
const NODE_FLAGS = ['--no-node-snapshot', '--disable-warning=ExperimentalWarning']

/** A process inherits nothing from this one's environment. */
const ENVIRONMENT = { TZ: 'UTC', LANG: 'C.UTF-8' }

/** Which binary of a native package fits is decided by whether this file exists. */
const LIBC_MARK = '/etc/alpine-release'

/** A process has its sockets, its files and its libraries; a dozen threads. */
const OPEN_FILES = 256

/** Enough for a snapshot. In units of 512 bytes, or of 1024 where the shell is bash. */
const FILE_BLOCKS = 8192

/** What walls are built from on this machine. */
export interface JailParts {
  readonly node: string
  readonly isRoot: boolean
  /** Whether what the service starts has capabilities although it is not root. */
  readonly givesCapabilities: boolean
  /** Absolute paths; undefined where they are not installed. */
  readonly bubblewrap: string | undefined
  readonly setpriv: string | undefined
  readonly uid: number
  /** Of all processes of that user. */
  readonly maxThreads: number
  /** Private to the service. */
  readonly cacheDir: string
  /** The file with the filter for the kernel. */
  readonly filterPath: string
  /** Undefined where this service may not make any. */
  readonly memoryGroups: MemoryGroups | undefined
  /** Of the programs above. */
  readonly libraries: readonly string[]
}

export interface SandboxProgram {
  /** What Node runs, by its absolute path. */
  readonly entry: string
  /** What it is given besides. */
  readonly arguments?: readonly string[]
  /** Files it reads besides its own code, and files it writes: these exist. */
  readonly view: View
  readonly cpuSeconds?: number
  /** Resident memory at which the service ends it. */
  readonly memoryBytes?: number
}

interface ProcessLimits {
  readonly walls: ReadonlySet<IsolationLayer>
  /** Of all processes of the user that this one runs as. */
  readonly maxThreads: number
  readonly cpuSeconds: number | undefined
}

/** How a process of the sandbox is started behind walls. */
export function jailCommand(
  parts: JailParts,
  layers: ReadonlySet<IsolationLayer>,
  program: SandboxProgram,
): HostCommand {
  const isNested = BUBBLEWRAP_LAYERS.some((layer) => layers.has(layer))
  const { entry, arguments: words = [], view } = program
  const code = { reads: [...filesOfEntry(entry), ...view.reads], writes: view.writes }
  const permissions = layers.has('permissions') ? nodePermissions(code) : []
  const node = [parts.node, ...NODE_FLAGS, ...permissions, entry, ...words]
  const unprivileged =
    layers.has('user') && parts.setpriv ? [...asUser(parts.setpriv, parts.uid), ...node] : node
  const command = isNested ? [...outside(parts, layers, code), ...unprivileged] : unprivileged
  const { memoryBytes } = program
  const memory =
    layers.has('memory') && memoryBytes !== undefined
      ? parts.memoryGroups?.make(memoryBytes)
      : undefined
  const started = inShell(parts, layers, { program, command, group: memory?.path })
  return { ...started, isNested, memory }
}

function outside(parts: JailParts, layers: ReadonlySet<IsolationLayer>, code: View): string[] {
  const { node, bubblewrap = '', setpriv, isRoot, libraries, cacheDir } = parts
  const programs = layers.has('user') && setpriv ? [node, setpriv] : [node]
  const view = { reads: [...programs, ...libraries, ...code.reads], writes: code.writes }
  const start = parts.givesCapabilities && setpriv ? withoutCapabilities(setpriv) : []
  return [
    ...start,
    ...bubblewrapArguments({ program: bubblewrap, walls: layers, isRoot, view, cacheDir }),
  ]
}

interface CommandInShell {
  readonly program: SandboxProgram
  readonly command: readonly string[]
  /** The control group that it enters. */
  readonly group: string | undefined
}

/** The shell sets the limits, opens the filter, enters the group, and then becomes the command. */
function inShell(
  { maxThreads, filterPath }: JailParts,
  layers: ReadonlySet<IsolationLayer>,
  { program, command, group }: CommandInShell,
): Pick<HostCommand, 'file' | 'args' | 'env'> {
  if (process.platform === 'win32') {
    const [file = '', ...args] = command
    return { file, args, env: ENVIRONMENT }
  }
  const { cpuSeconds } = program
  const filtered = layers.has('syscalls') ? ` ${FILTER_FD}<"$filter"` : ''
  const script = [
    'filter=$1; group=$2; shift 2',
    ...(group === undefined ? [] : ['echo $$ > "$group/cgroup.procs" || exit 1']),
    ...limitLines({ walls: layers, maxThreads, cpuSeconds }),
    `exec "$@"${filtered}`,
  ].join('\n')
  return {
    file: '/bin/sh',
    args: ['-c', script, 'sh', filterPath, group ?? '', ...command],
    env: ENVIRONMENT,
  }
}

/** Node's own refusal of every other file, and of starting programs. Native code, which isolates need, is not bound by it. */
const nodePermissions = ({ reads, writes }: View): string[] => [
  '--permission',
  '--allow-addons',
  '--allow-worker',
  // Node warns on stderr that native code could get around the rest: that is why there are other walls.
  '--disable-warning=SecurityWarning',
  ...withTargets([...reads, ...writes, LIBC_MARK]).map((path) => `--allow-fs-read=${path}`),
  ...withTargets(writes).map((path) => `--allow-fs-write=${path}`),
]

/** Lines for the shell that sets limits for itself before it becomes the process. */
function limitLines({ walls: layers, maxThreads, cpuSeconds }: ProcessLimits): string[] {
  const cpu = cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds}`]
  if (!layers.has('limits')) return cpu
  return [
    // A core file of a process full of other people's data must not be left on a disk.
    'ulimit -c 0',
    `ulimit -n ${OPEN_FILES}`,
    `ulimit -f ${FILE_BLOCKS}`,
    ...cpu,
    // Counted by user: of a user that others share it would count theirs too. Shells differ in its letter.
    ...(layers.has('user')
      ? [
          `if (ulimit -u ${maxThreads}) 2>&-; then ulimit -u ${maxThreads}; else ulimit -p ${maxThreads}; fi`,
        ]
      : []),
  ]
}
