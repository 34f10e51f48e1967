import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { migrateDatabase } from '#platform/migrate-database.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { connectPostgres } from '#platform/postgres/postgres.ts'
import { startDynamoDbWire } from '#test/dynamodb-wire.ts'
import { silentLog } from '#test/silent-log.ts'

const USAGE = `Serves Croft's tables over DynamoDB's JSON protocol, on 127.0.0.1, until it gets SIGTERM or SIGINT.

  npm run dynamodb-wire -- [--port N] [--transition-ms N]

  --port N           the port; 0, which is the default, for any free one
  --transition-ms N  how long tables stay CREATING, UPDATING and DELETING (100)
  --help             this text

Any credentials and region will do. The items are in a PostgreSQL of its own that is gone afterwards, or in the one that
TEST_POSTGRES_URL names: a superuser's URL of an empty database.
`
const DEFAULT_TRANSITION_MS = '100'
/** Nothing here has to survive a power cut. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

await main()

async function main(): Promise<void> {
  const options = readOptions()
  if (options === undefined) {
    process.stdout.write(USAGE)
    return
  }
  const stopped = stopSignal()
  await using running = new AsyncDisposableStack()
  const url = await openPostgres(running)
  await migrateDatabase({ url, log: silentLog })
  const { database } = running.use(await connectPostgres({ url, log: silentLog }))
  const wire = running.use(await startDynamoDbWire({ ...options, database, onFault: report }))
  process.stdout.write(`DynamoDB endpoint: ${wire.endpoint}\n`)
  await stopped
}

interface Options {
  readonly port: number
  readonly transitionMs: number
}

/** Undefined when the usage is asked for. */
function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '0' },
        'transition-ms': { type: 'string', default: DEFAULT_TRANSITION_MS },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return undefined
    return {
      port: wholeNumber('--port', values.port, 65_535),
      transitionMs: wholeNumber('--transition-ms', values['transition-ms'], 60_000),
    }
  } catch (fault) {
    process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n\n${USAGE}`)
    process.exit(2)
  }
}

function wholeNumber(option: string, text: string, most: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= most) return Number(text)
  throw new Error(`${option} must be a whole number from 0 to ${most}, not "${text}"`)
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}

async function openPostgres(running: AsyncDisposableStack): Promise<string> {
  const given = process.env['TEST_POSTGRES_URL']
  if (given !== undefined) return given
  const dataDir = await mkdtemp(join(tmpdir(), 'croft-dynamodb-wire-'))
  running.defer(() => rm(dataDir, { recursive: true, force: true }))
  // The database's own account has to reach its folder.
  await chmod(dataDir, 0o711)
  const server = running.use(
    await startEmbeddedPostgres({ dataDir, log: silentLog, settings: SETTINGS }),
  )
  running.defer(cleanUpAfterCrash(server.pid, dataDir))
  return server.url
}

/** A small process that waits for this one to end, however it ends: its standard input closes then. */
function cleanUpAfterCrash(pid: number, folder: string): () => void {
  const script = 'cat >/dev/null; kill -INT "$1" 2>/dev/null; sleep 1; rm -rf -- "$2"'
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', String(pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  return () => {
    watcher.kill('SIGKILL')
  }
}

function report(fault: unknown): void {
  const words = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)
  process.stderr.write(`${words}\n`)
}
