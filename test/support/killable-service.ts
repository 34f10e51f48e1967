import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Database } from '#platform/postgres/database.ts'
import { connectPostgres } from '#platform/postgres/postgres.ts'

import { CroftProcess, freePort } from './croft-process.ts'
import { cloneDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'

/** A service in a process of its own, to be killed and started again on the same database, folder and port. */
export interface KillableService {
  readonly operatorKey: string
  /** Connections of the test's own, which outlive the service. */
  readonly database: Database
  /** Of that database. */
  readonly url: string
  readonly dataDir: string
  start(): Promise<CroftProcess>
}

export async function killableService(
  cleanUp: AsyncDisposableStack,
  more: Readonly<Record<string, string>> = {},
): Promise<KillableService> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-killable-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const { url } = cleanUp.use(await cloneDatabase())
  const { database } = cleanUp.use(await connectPostgres({ url, log: silentLog, poolSize: 4 }))
  const operatorKey = randomBytes(32).toString('base64url')
  const env = {
    DATABASE_URL: url,
    CROFT_MASTER_KEY: randomBytes(32).toString('base64'),
    CROFT_OPERATOR_KEY: operatorKey,
    ...more,
  }
  const dataDir = join(folder, 'data')
  const port = await freePort()
  return {
    operatorKey,
    database,
    url,
    dataDir,
    start: async () => cleanUp.use(await CroftProcess.start({ dataDir, port, env })),
  }
}
