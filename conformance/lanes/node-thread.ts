import { runInThisContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'

import { readResource } from '#conformance/wpt/resources.ts'

import type { Finding, Job } from './protocol.ts'

/** Entry of a thread that runs one job in its global scope. */
const { source, root } = workerData as Job
const report = (finding: Finding): void => parentPort?.postMessage(finding)
const ResponseClass = Response
/** The timers of Node that do not keep a thread alive are waited for as well. */
const PATIENCE_MS = 5000

// Unhandled rejections do not end a function either.
process.on('unhandledRejection', () => {})
process.on('uncaughtException', () => {})
setTimeout(() => {}, PATIENCE_MS)
Object.defineProperty(globalThis, 'conformance', {
  value: { report, fetch: fetchResource },
  configurable: true,
})
try {
  runInThisContext(source)
} catch (error) {
  report({ error: String(error) })
}

async function fetchResource(input: string | Request, init?: RequestInit): Promise<Response> {
  const request = typeof input === 'string' ? new Request(input, init) : new Request(input, init)
  const { signal, url } = request
  signal.throwIfAborted()
  const resource = await readResource(root, url)
  if (!resource) throw new TypeError('fetch failed')
  return new ResponseClass(new Uint8Array(resource.bytes), {
    headers: { 'content-type': resource.type },
  })
}
