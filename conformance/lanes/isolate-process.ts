import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { syntaxReady } from '#sandbox/module-syntax.ts'
import { loadSnapshot, snapshotFile } from '#sandbox/snapshot.ts'
import { setIsolateFlags } from '#sandbox/v8-flags.ts'

import { runInIsolate } from './isolate-run.ts'
import { serveJobs } from './serve-jobs.ts'

/** Entry of a process that runs jobs in isolates. Arguments: the folder with the prelude's source, and `cpuMs`. */
const [folder = '.', cpuMs] = process.argv.slice(2)
setIsolateFlags()
await syntaxReady
const snapshot = loadSnapshot(
  snapshotFile(readFileSync(join(folder, 'prelude.js'), 'utf8'), {
    kept: join(folder, 'snapshot'),
    draft: join(folder, 'snapshot'),
  }),
)
serveJobs((job, send) => runInIsolate({ snapshot, cpuMs: Number(cpuMs) }, job, send))
