import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { silentLog } from '#test/silent-log.ts'

/** A service for tests: starts the database of a data folder, says where it is, and stays until it is killed. */
const [dataDir = '', elsewhere = '/nowhere'] = process.argv.slice(2)
const { url, pid, adopted, cluster } = await startEmbeddedPostgres({
  dataDir,
  elsewhere,
  log: silentLog,
})
process.stdout.write(`${JSON.stringify({ url, pid, adopted, cluster })}\n`)
setInterval(() => {}, 60_000)
