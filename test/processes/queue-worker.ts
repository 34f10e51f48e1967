import { connectPostgres } from '#platform/postgres/postgres.ts'
import { openQueue } from '#platform/queue/postgres-queue.ts'
import { silentLog } from '#test/silent-log.ts'

/** A worker process for tests: `queue-worker.ts <url> hang` takes a job and never ends it, `… once` ends after one. */
const [url = '', mode] = process.argv.slice(2)
const platform = await connectPostgres({ url, log: silentLog, poolSize: 4 })
const queue = await openQueue({ ...platform, log: silentLog })
const done = new AbortController()

queue.handle('site-cleanup', async ({ siteId }) => {
  process.stdout.write(`${siteId}\n`)
  if (mode === 'hang') await new Promise(() => {})
  done.abort()
})
const running = queue.run(done.signal)
if (mode === 'once') {
  await platform.database.withDirectory((tx) =>
    queue.enqueue(tx, 'site-cleanup', { siteId: 'by-itself' }),
  )
}
await running
await queue[Symbol.asyncDispose]()
await platform[Symbol.asyncDispose]()
