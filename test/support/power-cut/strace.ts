import { spawnSync } from 'node:child_process'

/** What changes files, makes them durable, and answers. */
const CALLS =
  'open,openat,openat2,creat,mkdir,mkdirat,rmdir,unlink,unlinkat,rename,renameat,renameat2,link,linkat,' +
  'write,writev,pwrite64,pwritev,pwritev2,truncate,ftruncate,copy_file_range,sendfile,fsync,fdatasync,sendto,sendmsg'
/** Why no calls can be traced here, or undefined. In CI that is a failure, not a skip. */
export function straceMissing(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-o', '/dev/null', 'true'])
  if (status === 0) return undefined
  const why =
    error === undefined
      ? `The power cuts need a machine that allows ptrace: ${String(stderr).trim()}`
      : 'The power cuts need "strace" on the PATH: apt-get install strace'
  if (process.env['CI']) throw new Error(why)
  return why
}

export interface TraceOptions {
  /** Calls that fail: `link:error=EPERM`. */
  readonly injected?: readonly string[]
  /** Of what is written at once. What is longer is known by its file alone. */
  readonly stringBytes?: number
}

/** The command that runs another one, with its process id, and writes the calls of all its processes into a file. */
export function traced(
  log: string,
  command: readonly string[],
  { injected = [], stringBytes = 20_000 }: TraceOptions = {},
): readonly string[] {
  const failures = injected.flatMap((failure) => ['-e', `inject=${failure}`])
  const what = ['-e', `trace=${CALLS}`, '-e', 'signal=none', '-s', String(stringBytes), ...failures]
  return [
    'strace',
    '-D',
    '-f',
    '-ttt',
    '-yy',
    '--seccomp-bpf',
    ...what,
    '-o',
    log,
    '--',
    ...command,
  ]
}
