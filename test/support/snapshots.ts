import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the stacks of a run keep the prelude's snapshot, which is the same for all; `pid` is of the run's first process. */
export const snapshotFolder = (pid: number): string => join(tmpdir(), `croft-test-snapshots-${pid}`)
