import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'

import { AppError } from '#base/app-error.ts'

const MIN_MAJOR = 24
/** Processor time of one process that prepares code, in all. */
const PREPARER_CPU_SECONDS = 120
/** Packages that carry nothing but a Node binary for one platform. */
const PACKAGES = [
  `node-${process.platform}-${process.arch}`,
  `node-bin-${process.platform}-${process.arch}`,
]

export interface HostCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * How a host process is started. It inherits nothing from this process's environment. This is the one place where a
 * jail around the process is put.
 */
export const hostCommand = (nodeBinary: string, entry: string): HostCommand =>
  // A core file of a process full of other people's data must not be left on a disk.
  limited('ulimit -c 0', nodeCommand(nodeBinary, entry))

/** How the process that prepares code is started: it ends by itself when it has read for so long that nobody can still wait. */
export const preparerCommand = (nodeBinary: string, entry: string): HostCommand =>
  limited(`ulimit -c 0; ulimit -t ${PREPARER_CPU_SECONDS}`, nodeCommand(nodeBinary, entry))

const nodeCommand = (nodeBinary: string, entry: string): string[] => [
  nodeBinary,
  // isolated-vm asks for it: https://github.com/laverdet/isolated-vm#requirements
  '--no-node-snapshot',
  '--disable-warning=ExperimentalWarning',
  entry,
]

function limited(limits: string, command: readonly string[]): HostCommand {
  const env = { TZ: 'UTC', LANG: 'C.UTF-8' }
  if (process.platform === 'win32') {
    const [file = '', ...args] = command
    return { file, args, env }
  }
  return { file: '/bin/sh', args: ['-c', `${limits}; exec "$@"`, 'sh', ...command], env }
}

/** Absolute path of the Node that runs the sandbox hosts: the installed package, or the Node that runs this service. */
export function findNodeBinary(): string {
  const require = createRequire(import.meta.url)
  for (const name of PACKAGES) {
    try {
      return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'node')
    } catch {
      // Optional dependencies of other platforms are not installed.
    }
  }
  if (isNode() && Number(process.versions.node.split('.')[0]) >= MIN_MAJOR) return process.execPath
  throw new AppError(
    'ServiceUnavailable',
    `The sandbox needs Node ${MIN_MAJOR} or newer: install the package "${PACKAGES[0]}", or run Croft on Node`,
  )
}

const isNode = (): boolean =>
  process.versions['bun'] === undefined && process.versions['deno'] === undefined
