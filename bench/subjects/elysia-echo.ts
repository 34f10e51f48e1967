import { fileURLToPath } from 'node:url'

import { startChild } from '#bench/child-process.ts'
import { jobTenant } from '#bench/job-calls.ts'
import type { Subject } from '#bench/subject.ts'

const SERVER = fileURLToPath(new URL('elysia-echo-server.ts', import.meta.url))

export async function startElysiaEcho(): Promise<Subject & AsyncDisposable> {
  const child = startChild('bun', [SERVER])
  const port = await child.line((line) => /^port (\d+)$/.exec(line)?.[1])
  return {
    name: 'elysia-echo',
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    tenants: [jobTenant({ host: 'bench.test', path: '/data/job' })],
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
