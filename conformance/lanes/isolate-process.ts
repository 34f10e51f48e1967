import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { GuestParts } from '#sandbox/host/guest-parts.ts'
import { loadSnapshot, snapshotFile } from '#sandbox/host/snapshot.ts'
import { setIsolateFlags } from '#sandbox/host/v8-flags.ts'
import { syntaxReady } from '#sandbox/modules/module-syntax.ts'
import type { GuestScripts } from '#sandbox/protocol/part-names.ts'

import { runInIsolate } from './isolate-run.ts'
import { serveJobs } from './serve-jobs.ts'

/** Entry of a process that runs jobs in isolates. Arguments: the folder with the scripts of the guest, and `cpuMs`. */
const [folder = '.', cpuMs] = process.argv.slice(2)
setIsolateFlags()
await syntaxReady
const snapshot = loadSnapshot(
  snapshotFile(readFileSync(join(folder, 'prelude.js'), 'utf8'), {
    kept: join(folder, 'snapshot'),
    draft: join(folder, 'snapshot'),
  }),
)
const scripts = readFileSync(join(folder, 'parts.json'), 'utf8')
const parts = new GuestParts(JSON.parse(scripts) as GuestScripts['parts'])
serveJobs((job, send) => runInIsolate({ snapshot, parts, cpuMs: Number(cpuMs) }, job, send))
