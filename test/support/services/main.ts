import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { openS3Store } from '#test/object-stores.ts'
import { redisMissing, startRedis } from '#test/redis.ts'
import { silentLog } from '#test/silent-log.ts'
import { SmtpServer } from '#test/smtp-server.ts'

const INTRODUCTION = `Services for tests and development run on 127.0.0.1 until Ctrl-C. All of their data is then gone.

`
/** Nothing here has to survive a power cut. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

await main()

async function main(): Promise<void> {
  const stopped = stopSignal()
  await using running = new AsyncDisposableStack()
  const environment = await startServices(running)
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`)
  process.stdout.write(INTRODUCTION + lines.join(''))
  await stopped
}

/** The environment that leads a service, and the tests, to what now runs. */
async function startServices(running: AsyncDisposableStack): Promise<Record<string, string>> {
  const postgres = await openPostgres(running)
  const smtp = running.use(await SmtpServer.start())
  const store = running.use(await openS3Store())
  return {
    DATABASE_URL: postgres,
    TEST_POSTGRES_URL: postgres,
    ...(await redisEnvironment(running)),
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    ...store.env,
  }
}

async function openPostgres(running: AsyncDisposableStack): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'croft-services-'))
  running.defer(() => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o711)
  const server = await startEmbeddedPostgres({ dataDir, log: silentLog, settings: SETTINGS })
  return running.use(server).url
}

async function redisEnvironment(running: AsyncDisposableStack): Promise<Record<string, string>> {
  const missing = redisMissing()
  if (missing === undefined) return { REDIS_URL: running.use(await startRedis()).url }
  process.stderr.write(`Redis is left out: "redis-server" is not on the PATH\n`)
  return {}
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  return promise
}
