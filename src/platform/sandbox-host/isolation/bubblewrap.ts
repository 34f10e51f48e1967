import { statSync } from 'node:fs'

import type { IsolationLayer } from './isolation-layers.ts'
import { ancestors } from './visible-files.ts'

/** Where a filter for the kernel is open when bubblewrap starts. */
export const FILTER_FD = 9
const DEVICES = ['/dev/null', '/dev/urandom']
/** Of all that root may do, what is needed to become another user, which gives that up too. */
const BECOME_USER = ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']

export interface View {
  /** Files and folders that are there; what is missing is left out. */
  readonly reads: readonly string[]
  /** Files that may be written; they exist. */
  readonly writes: readonly string[]
}

export interface BubblewrapOptions {
  readonly program: string
  readonly walls: ReadonlySet<IsolationLayer>
  /** Whether the service is root, which needs no user namespace. */
  readonly isRoot: boolean
  readonly view: View
  /** Private to the service: by it, processes are found that outlive it. */
  readonly cacheDir: string
}

/** The words in the command line of each process of bubblewrap that say which service it is of. What is inside does not see them. */
export const jailMark = (cacheDir: string): readonly string[] => [
  '--setenv',
  'CROFT_JAIL',
  cacheDir,
  '--unsetenv',
  'CROFT_JAIL',
]

/** The start of a command line: what runs inside follows it. All processes inside end with the one that started them. */
export function bubblewrapArguments(options: BubblewrapOptions): string[] {
  const { program, walls: layers, isRoot, view, cacheDir } = options
  const filter = layers.has('syscalls') ? ['--seccomp', String(FILTER_FD)] : []
  const user = isRoot
    ? ['--cap-drop', 'ALL', ...(layers.has('user') ? BECOME_USER : [])]
    : ['--unshare-user', '--cap-drop', 'ALL']
  return [
    program,
    '--die-with-parent',
    ...jailMark(cacheDir),
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(layers.has('network') ? ['--unshare-net'] : []),
    ...(layers.has('processes') ? ['--unshare-pid'] : []),
    ...user,
    ...filter,
    ...(layers.has('files') ? privateView(view) : ['--bind', '/', '/']),
    ...(layers.has('processes') ? ['--proc', '/proc'] : ['--ro-bind', '/proc', '/proc']),
    ...(layers.has('files') ? ['--remount-ro', '/'] : []),
    '--chdir',
    '/',
    '--',
  ]
}

/** Each folder on the way is made so that another user can pass. */
function privateView({ reads, writes }: View): string[] {
  const paths = [...reads, ...writes, ...DEVICES, '/proc/.']
  const folders = new Set(paths.flatMap((path) => ancestors(path).slice(1).toReversed()))
  folders.delete('/')
  // A folder that is shown whole brings those inside it.
  const shown = new Set(reads.filter(isFolder))
  const made = [...folders].filter((folder) => !ancestors(folder).some((path) => shown.has(path)))
  return [
    ...made.flatMap((folder) => ['--perms', '0755', '--dir', folder]),
    ...reads.flatMap((path) => ['--ro-bind-try', path, path]),
    ...writes.flatMap((path) => ['--bind', path, path]),
    ...DEVICES.flatMap((path) => ['--dev-bind', path, path]),
  ]
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
