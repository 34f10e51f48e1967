import type { View } from './bubblewrap.ts'
import { withTargets } from './visible-files.ts'

/** Which binary of a native package fits is decided by whether this file exists. */
const LIBC_MARK = '/etc/alpine-release'

/** Node's own refusal of every other file, and of starting programs. Native code, which isolates need, is not bound by it. */
export const nodePermissions = ({ reads, writes }: View): string[] => [
  '--permission',
  '--allow-addons',
  '--allow-worker',
  // It says on stderr that native code could get around the rest: hence the other walls.
  '--disable-warning=SecurityWarning',
  ...withTargets([...reads, ...writes, LIBC_MARK]).map((path) => `--allow-fs-read=${path}`),
  ...withTargets(writes).map((path) => `--allow-fs-write=${path}`),
]
