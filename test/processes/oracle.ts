import { parentPort } from 'node:worker_threads'

import dynalite from 'dynalite'

/** A busy machine must not close a connection that a request is just being written to. */
const KEEP_ALIVE_MS = 120_000

/** dynalite in memory, in a thread of its own; posts the port that it listens on. */
const server = dynalite({ createTableMs: 0 })
server.keepAliveTimeout = KEEP_ALIVE_MS
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('dynalite has no port')
  parentPort?.postMessage(address.port)
})
