import { availableParallelism } from 'node:os'

import { PasswordHasher } from '#identity/passwords/hasher.ts'

/** How many passwords a second this machine verifies when it does nothing else. */
const durationMs = Number(process.argv[2])
const hasher = new PasswordHasher({
  secret: new Uint8Array(32),
  concurrency: availableParallelism(),
})
const stored = await hasher.hash('Correct-horse-1', '127.0.0.1')

let verified = 0
const startedAt = performance.now()
const endsAt = startedAt + durationMs
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    while (performance.now() < endsAt) {
      if (!(await hasher.verify(stored, 'Correct-horse-1', '127.0.0.1')))
        throw new Error('not verified')
      verified += 1
    }
  }),
)
process.stdout.write(`verified ${(verified / (performance.now() - startedAt)) * 1000}\n`)
