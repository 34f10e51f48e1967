import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startChild } from '#bench/child-process.ts'
import { readCpu } from '#bench/cpu-clock.ts'
import { startCroft } from '#bench/croft/croft-process.ts'
import { median } from '#bench/median.ts'
import { createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { type DnsReply, DnsServer } from '#test/dns-server.ts'
import { silentLog } from '#test/silent-log.ts'

import { type SmtpFigures, sendMessages } from './smtp-sessions.ts'

const ROUNDS = 3
const ROUND_MS = 8000
const WARM_UP_MS = 4000
const SESSIONS = 20
const MESSAGE_BYTES = 4000
const DOMAIN = 'inbound.test'
/** What is asked of it. */
const NEEDED = 0.5
const UNLIMITED = '1000000000'
/** A name server says how long what is missing stays so (RFC 2308 §5). */
const NO_RECORDS: DnsReply = {
  rcode: 'NXDOMAIN',
  authorities: [
    {
      type: 'SOA',
      name: 'test',
      ttl: 3600,
      data: {
        mname: 'ns.test',
        rname: 'root.test',
        serial: 1,
        refresh: 7200,
        retry: 3600,
        expire: 1_209_600,
        minimum: 3600,
      },
    },
  ],
}

async function preparedCroft(databaseUrl: string, dns: DnsServer) {
  const croft = await startCroft(undefined, {
    DATABASE_URL: databaseUrl,
    // No domain has records here. The machine's name servers would add their own delays.
    CROFT_DNS_SERVERS: dns.address,
    CROFT_OPERATOR_KEY: 'bench-inbound-operator-key-0123456789',
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED,
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: UNLIMITED,
    SMTP_MAX_MESSAGE_BYTES: UNLIMITED,
  })
  const user = `ann@${DOMAIN}`
  await croft.command('site', 'create', '--domain', DOMAIN, '--super-admin', user)
  await croft.command('mailbox', 'create', `info@${DOMAIN}`, '--owner', user)
  return croft
}

const shown = ({ perSecond, medianMs, p99Ms }: SmtpFigures): string =>
  `${perSecond.toFixed(0)}/s, median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`

/** CPU seconds of Croft, and of the database, which is a child of this process. */
function spentSeconds(pid: number): { readonly service: number; readonly database: number } {
  const { trees } = readCpu([process.pid, pid])
  const { user, system } = process.cpuUsage()
  const here = trees.get(process.pid) ?? 0
  return { service: trees.get(pid) ?? 0, database: here - (user + system) / 1e6 }
}

/** As autovacuum does within the first minute: before, Postgres takes every table for an empty one. */
async function analyze(url: string): Promise<void> {
  const owner = createClient({ url, max: 1 })
  await owner`analyze`
  await owner.end({ timeout: 5 })
}

/**
 * Both keep tens of thousands of files, which go at the end. ext4 without a journal takes none of their inodes for five
 * minutes, and looks at each of them for every new file: a run right after another says less than the first.
 */
const folder = await mkdtemp(join(tmpdir(), 'croft-bench-inbound-'))
await using cleanUp = new AsyncDisposableStack()
cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
// As root the database runs as another user, which needs access.
await chmod(folder, 0o755)
const postgres = cleanUp.use(await startEmbeddedPostgres({ dataDir: folder, log: silentLog }))
const dns = cleanUp.use(await DnsServer.start(() => NO_RECORDS))
const croft = cleanUp.use(await preparedCroft(postgres.url, dns))
const plainServer = fileURLToPath(new URL('plain-smtp-server.ts', import.meta.url))
await using plain = startChild('bun', [plainServer])
const plainPort = Number(await plain.line((line) => /^port (\d+)$/.exec(line)?.[1]))
const load = {
  recipient: `info@${DOMAIN}`,
  sessions: SESSIONS,
  durationMs: ROUND_MS,
  messageBytes: MESSAGE_BYTES,
}
for (const port of [plainPort, croft.smtpPort]) {
  await sendMessages({ ...load, port, durationMs: WARM_UP_MS })
}
await analyze(postgres.url)
const ratios: number[] = []
for (let round = 1; round <= ROUNDS; round++) {
  const alone = await sendMessages({ ...load, port: plainPort })
  const before = spentSeconds(croft.pid)
  const ours = await sendMessages({ ...load, port: croft.smtpPort })
  const after = spentSeconds(croft.pid)
  ratios.push(ours.perSecond / alone.perSecond)
  const each = (part: 'service' | 'database'): string =>
    `${(((after[part] - before[part]) / ours.messages) * 1e6).toFixed(0)} µs`
  console.log(`round ${round}: smtp-server with write and fsync ${shown(alone)}`)
  console.log(
    `         croft ${shown(ours)}; CPU a message ${each('service')}, database ${each('database')}`,
  )
}
const ratio = median(ratios)
console.log(`croft takes ${ratio.toFixed(2)} of what smtp-server alone does; needed ${NEEDED}`)
if (ratio < NEEDED) process.exitCode = 1
