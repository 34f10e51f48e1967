/**
 * The walls between a sandbox process and everything else, should code break out of its isolate: `files`: it sees only what it
 * reads, and writes only its own two files; `network`: it has none; `processes`: it sees no other; `syscalls`: the kernel refuses
 * what it never needs; `user`: its user has no other process; `permissions`: Node refuses files and programs by itself; `limits`:
 * open files, file sizes, processes, no core files; `memory`: the kernel bounds it.
 */
export const ISOLATION_LAYERS = [
  'files',
  'network',
  'processes',
  'syscalls',
  'user',
  'permissions',
  'limits',
  'memory',
] as const
export type IsolationLayer = (typeof ISOLATION_LAYERS)[number]

/** Those that bubblewrap puts up, all or none. */
export const BUBBLEWRAP_LAYERS = [
  'files',
  'network',
  'processes',
] as const satisfies IsolationLayer[]

export interface LayerState {
  readonly wall: IsolationLayer
  readonly stands: boolean
  /** Why it is missing; null when it exists. */
  readonly reason: string | null
  /** Whether it takes this one to make a jail. */
  readonly needed: boolean
}

/** Those without which a sandbox is no jail. A service that is not root has only its own user to run it as. */
export const requiredLayers = (isRoot: boolean): readonly IsolationLayer[] =>
  isRoot ? [...BUBBLEWRAP_LAYERS, 'syscalls', 'user'] : [...BUBBLEWRAP_LAYERS, 'syscalls']
