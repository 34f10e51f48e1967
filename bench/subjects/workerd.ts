import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { transform } from 'esbuild'

import { startChild } from '#bench/child-process.ts'
import { jobTenant, readJobSource } from '#bench/job-calls.ts'
import type { Subject } from '#bench/subject.ts'

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .job)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const job :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "json-job.js", esModule = embed "json-job.js"),
  ],
  compatibilityDate = "2026-11-01",
);
`

const WORKER = `import { answer } from './json-job.js'

export default {
  async fetch(request) {
    const { payload } = await request.json()
    return Response.json({ ok: true, data: answer(payload) })
  },
}
`

/** Cloudflare's runtime with the job as an ES module worker: one process, one thread, its defaults. */
export async function startWorkerd(): Promise<Subject & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-workerd-'))
  const job = await transform(await readJobSource(), { loader: 'ts' })
  await Promise.all([
    writeFile(join(folder, 'config.capnp'), CONFIG),
    writeFile(join(folder, 'worker.js'), WORKER),
    writeFile(join(folder, 'json-job.js'), job.code),
  ])
  const child = startChild(binaryPath(), ['serve', 'config.capnp', '--control-fd=1'], {
    cwd: folder,
  })
  const port = await child.line((line) => /"event":"listen".*"port":(\d+)/.exec(line)?.[1])
  return {
    name: 'workerd',
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    tenants: [jobTenant({ host: 'bench.test', path: '/data/job' })],
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function binaryPath(): string {
  const require = createRequire(new URL('../packages/package.json', import.meta.url))
  try {
    const installed: { readonly default: string } = require('workerd')
    return installed.default
  } catch (cause) {
    throw new MissingPackage('workerd is not installed: run "npm ci --prefix bench/packages"', {
      cause,
    })
  }
}

/** Its message says all that there is to say. */
export class MissingPackage extends Error {}
