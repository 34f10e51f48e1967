import { randomUUID } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

import { SMTPServer } from 'smtp-server'

/** The library alone: each message goes into a file of its own, which is flushed before the answer. Prints its port. */
const folder = await mkdtemp(join(tmpdir(), 'plain-smtp-'))

async function keep(message: Buffer): Promise<void> {
  const file = await open(join(folder, randomUUID()), 'wx')
  try {
    await file.writeFile(message)
    await file.sync()
  } finally {
    await file.close()
  }
}

const server = new SMTPServer({
  authOptional: true,
  disableReverseLookup: true,
  logger: false,
  async onData(stream, _session, done) {
    await keep(await buffer(stream))
    done()
  },
})
const listening = server.listen(0, '127.0.0.1', () => {
  const address = listening.address()
  console.log(`port ${address !== null && typeof address === 'object' ? address.port : 0}`)
})
process.once('SIGTERM', () => {
  void rm(folder, { recursive: true, force: true }).then(() => process.exit(0))
})
