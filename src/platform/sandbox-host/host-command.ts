import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'

import { AppError } from '#base/app-error.ts'

import type { MemoryGroup } from './isolation/memory-groups.ts'

const MIN_MAJOR = 24
/** Packages that carry nothing but a Node binary for one platform. */
const PACKAGES = [
  `node-${process.platform}-${process.arch}`,
  `node-bin-${process.platform}-${process.arch}`,
]

/** How a process of the sandbox is started. */
export interface HostCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whether the process that is started is one around the one that it is for. */
  readonly isNested: boolean
  /** What bounds its memory, made for this one process. */
  readonly memory?: MemoryGroup | undefined
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
