import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import { type Endpoint, endpointAt } from './endpoint.ts'

const WORKER = new URL('../processes/oracle.ts', import.meta.url)

export type Oracle = Endpoint

/** dynalite in memory, on a free port of this machine and on a core of its own, if there is one. */
export async function startOracle(): Promise<Oracle> {
  const worker = new Worker(WORKER)
  // Rejects when the thread dies instead.
  const [port] = (await once(worker, 'message')) as [number]
  const endpoint = endpointAt(port)
  return {
    call: (action, body) => endpoint.call(action, body),
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]()
      await worker.terminate()
    },
  }
}
