import { writeFile } from 'node:fs/promises'
import { availableParallelism, release, totalmem, type as systemName } from 'node:os'
import { parseArgs } from 'node:util'

import { installPackages } from '#scripts/extra-packages.ts'

import { bareSql } from './bare-sql.ts'
import { startCroftRoute } from './croft-route.ts'
import { startDynalite } from './dynalite.ts'
import { openBenchDatabase } from './embedded-database.ts'
import { ourTables } from './our-tables.ts'
import { claimsOf, resultsText } from './results.ts'
import { measure } from './rounds.ts'

const RESULTS = new URL('RESULTS.md', import.meta.url)
const CONNECTIONS = 8
/** No more than there are connections: beyond that postgres.js lets statements queue up inside a connection. */
const CALLERS = [1, CONNECTIONS] as const

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    /** Without waiting for the disk: what a put costs beside it. */
    unsafe: { type: 'boolean', default: false },
  },
})
const DURABILITY = values.unsafe
  ? 'No commit waits for the disk (`--unsafe`: `synchronous_commit`, `fsync` and `full_page_writes` are off), which hides the largest part of a put.'
  : 'Every put waits for the disk, as the service does; `--unsafe` measures without.'
const options = {
  rounds: Number(values.rounds),
  roundMs: Number(values.seconds) * 1000,
  callers: CALLERS,
}

await installPackages('peers', progress)
await using running = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void running.disposeAsync().finally(() => process.exit(130)))
}
progress('loading a million items, twice')
const { platform, sql } = await openBenchDatabase(
  { connections: CONNECTIONS, durable: !values.unsafe },
  running,
)
const bare = await bareSql(sql)
const tables = await ourTables(platform, sql, running)
progress('starting dynalite and Croft')
const dynalite = running.use(await startDynalite(Math.max(...CALLERS)))
const route = running.use(await startCroftRoute(Math.max(...CALLERS)))
progress('measuring')
const measured = await measure([bare, tables, route, dynalite], options)

const text = resultsText(measured, CALLERS)
const claims = claimsOf(measured, CALLERS)
console.log(text)
console.log(claims.join('\n'))
if (values.write) await writeFile(RESULTS, resultsFile())

function resultsFile(): string {
  return `# Results of \`npm run bench:tables\`

${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, ${systemName()} ${release().split('-')[0]}.

One run: ${options.rounds} interleaved rounds of ${options.roundMs / 1000} s for each line, closed loop, medians; ratios are taken within a round.

- **tables**: \`Tables\` in this process, plain JSON to plain JSON, as site code and the admin's routes call it.
- **bare SQL**: one hand-written prepared statement through postgres.js on a table of \`jsonb\` with the same items, no row-level security, in the same embedded Postgres, over the same number of connections (${CONNECTIONS}).
- **admin route, HTTP**: \`POST /admin/data/resources/{resourceId}/data/ddb/{action}\` of a whole installation, with an admin's token.
- **dynalite, HTTP**: dynalite 4 in memory, a process of its own. It keeps nothing on a disk.

Get and put: items of about 300 bytes among 10,000. Query: 100 items from the middle of 1,000,000 in one partition.
${DURABILITY}
Not measured: items of many kilobytes, indexes, filters, tables that do not fit into memory, a database on another machine, dynalite with a million items.
The load is made on the same cores, in the process of the first two. "CPU" is that of all processes for one call: with the machine busy otherwise, it says more than the rates do.

\`\`\`text
${text}

${claims.join('\n')}
\`\`\`
`
}

/** On standard error: standard output is the table. */
function progress(words: string): void {
  process.stderr.write(`${words}\n`)
}
