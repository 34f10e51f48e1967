import type { Wall } from './walls.ts'

/** A process has its sockets, its files and its libraries; a dozen threads. */
const OPEN_FILES = 256
/** Enough for a snapshot. In units of 512 bytes, or of 1024 where the shell is bash. */
const FILE_BLOCKS = 8192

export interface ProcessLimits {
  readonly walls: ReadonlySet<Wall>
  /** Of all processes of the user that this one runs as. */
  readonly maxThreads: number
  readonly cpuSeconds: number | undefined
}

/** Lines for the shell that sets limits for itself before it becomes the process. */
export function limitLines({ walls, maxThreads, cpuSeconds }: ProcessLimits): string[] {
  const cpu = cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds}`]
  if (!walls.has('limits')) return cpu
  return [
    // A core file of a process full of other people's data must not be left on a disk.
    'ulimit -c 0',
    `ulimit -n ${OPEN_FILES}`,
    `ulimit -f ${FILE_BLOCKS}`,
    ...cpu,
    // Counted by user: of a user that others share it would count theirs too. Shells differ in its letter.
    ...(walls.has('user')
      ? [
          `if (ulimit -u ${maxThreads}) 2>&-; then ulimit -u ${maxThreads}; else ulimit -p ${maxThreads}; fi`,
        ]
      : []),
  ]
}
