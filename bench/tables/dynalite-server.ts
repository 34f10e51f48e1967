/** dynalite in memory as a process of its own: prints `port N`. */
import { createRequire } from 'node:module'

import type createServer from 'dynalite'

const dynalite: typeof createServer = createRequire(new URL('../../peers/', import.meta.url))(
  'dynalite',
)

const server = dynalite({ createTableMs: 0 })
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('dynalite has no port')
  process.stdout.write(`port ${address.port}\n`)
})
