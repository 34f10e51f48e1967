import process from 'node:process'

export interface HostCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * How a host process is started. It inherits nothing from this process's environment. This is the one place where a
 * jail around the process is put.
 */
export function hostCommand(nodeBinary: string, entry: string): HostCommand {
  const node = [
    nodeBinary,
    // isolated-vm asks for it: https://github.com/laverdet/isolated-vm#requirements
    '--no-node-snapshot',
    '--disable-warning=ExperimentalWarning',
    entry,
  ]
  return withoutCore(node)
}

/** A core file of a process full of other people's data must not be left on a disk. */
function withoutCore(command: readonly string[]): HostCommand {
  const env = { TZ: 'UTC', LANG: 'C.UTF-8' }
  if (process.platform === 'win32') {
    const [file = '', ...args] = command
    return { file, args, env }
  }
  return { file: '/bin/sh', args: ['-c', 'ulimit -c 0; exec "$@"', 'sh', ...command], env }
}
