import { fileURLToPath } from 'node:url'

import type { SandboxConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import { findNodeBinary } from './host-command.ts'
import type { IsolationLayer } from './isolation/isolation-layers.ts'
import type { Jail } from './isolation/jail.ts'
import { openJail } from './isolation/open-jail.ts'
import { sandboxUid } from './isolation/sandbox-user.ts'

/** Absolute paths of what the processes of the sandbox run. */
export interface SandboxEntries {
  readonly host: string
  readonly preparer: string
  /** Loads what the others need, and ends. */
  readonly probe: string
}

export interface SandboxJailOptions {
  readonly config: SandboxConfig
  /** Private to the service. */
  readonly cacheDir: string
  readonly logger: Logger
  /** Those beside this program when left out. */
  readonly entries?: SandboxEntries
  /** For tests alone: walls that are left out, as if this machine did not have them. */
  readonly without?: ReadonlySet<IsolationLayer>
  /** Ends the attempts: then it rejects, and leaves no process. */
  readonly signal?: AbortSignal
}

/** Puts up the walls that this machine has. Throws a `SetupError` when the configuration requires more. */
export const openSandboxJail = ({
  config,
  entries = sandboxEntries(),
  ...options
}: SandboxJailOptions): Promise<Jail> =>
  openJail({
    ...options,
    node: findNodeBinary(),
    probe: entries.probe,
    uid: config.uid ?? sandboxUid(options.cacheDir),
    hosts: config.hosts,
    require: config.require,
  })

/** Parses mail in a process of its own. */
export const mailParserEntry = (): string =>
  fileURLToPath(import.meta.resolve('#sandbox/mail-parser.ts'))

export function sandboxEntries(): SandboxEntries {
  return {
    host: fileURLToPath(import.meta.resolve('#sandbox/main.ts')),
    preparer: fileURLToPath(import.meta.resolve('#sandbox/preparer.ts')),
    probe: fileURLToPath(import.meta.resolve('#sandbox/probe.ts')),
  }
}
