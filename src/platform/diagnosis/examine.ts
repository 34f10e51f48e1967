import type { Clock } from '#base/clock.ts'
import { withFallback } from '#base/with-timeout.ts'
import type { Config } from '#config/config.ts'
import { selectLastBackup } from '#platform/backup/last-backup-queries.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'

import { type Finding, Findings, milliseconds, reasonOf } from './finding.ts'
import { examineAddress, examineBackups, examineKeys } from './installation-findings.ts'
import { examineDisks, examineLimits } from './machine-findings.ts'
import { examineCertificate, examineGateway } from './mail-findings.ts'
import { type ServerFacts, selectNothing, selectServerFacts } from './postgres-queries.ts'
import { examineBucketCors, examineObjects, examineSharing } from './store-findings.ts'

/** What a check may take. Who asks waits for the slowest. */
const LIMIT_MS = 15_000

/** A statement that asks for nothing and takes longer is felt in every call. */
const SLOW_MS = 50

/** The shortest of so many is the way there and back; a longer one had to wait for something. */
const TRIES = 5

/** More than the statement itself may have taken. */
const CLOCK_APART_MS = 2000
const CONNECTIONS_SHARE = 0.8

/** Autovacuum freezes rows long before: by default at 200 million. */
const OLD_TRANSACTIONS = 1_000_000_000

export interface ExamineDeps {
  readonly config: Config
  readonly clock: Clock
  readonly statements: RunStatement
  readonly objects: ObjectStore
  readonly sharedCache: Pick<SharedCache, 'ping'>
  readonly mailTransport: Pick<MailTransport, 'delivers' | 'verify'>
  readonly disk: Pick<WatchedDisks, 'disks'>
  /** Origins whose pages use presigned URLs. */
  readonly pageOrigins: () => Promise<readonly string[]>
}

interface FoundServer {
  readonly findings: readonly Finding[]
  /** Undefined when the database does not answer. */
  readonly replicas: number | undefined
}

/** Tries what the service depends on for real: each within its time. Never rejects. */
export async function examine(deps: ExamineDeps): Promise<readonly Finding[]> {
  const { config, clock, sharedCache } = deps
  // First and alone, so that nothing else is in its time.
  const { findings, replicas } = await withFallback(examinePostgres(deps.statements), LIMIT_MS, {
    findings: late('postgres'),
    replicas: undefined,
  })
  const sharing = { replicas, objectsInFiles: config.s3 === undefined }
  const found = await Promise.all([
    within('objects', examineObjects(deps.objects, placeOf(config))),
    within('bucket CORS', examineCors(deps)),
    within('redis', examineSharing(sharedCache, sharing)),
    within('gateway', examineGateway(deps.mailTransport)),
    within('certificate', examineCertificate(config, clock)),
    within('keys', examineKeys(config.dataDir)),
    within(
      'backup',
      examineBackups(() => selectLastBackup(deps.statements), clock),
    ),
    within('limits', examineLimits(config.sandbox)),
  ])
  return [...findings, ...found.flat(), ...examineDisks(deps.disk), ...examineAddress(config)]
}

/** Of files the URLs lead to the service, which opens them to every page itself. */
async function examineCors({
  config: { s3 },
  objects,
  pageOrigins,
}: ExamineDeps): Promise<readonly Finding[]> {
  if (s3 === undefined) return []
  // Without the database there is nothing to ask for, which another finding says.
  const origins = await pageOrigins().catch(() => [])
  return origins.length === 0 ? [] : examineBucketCors(objects, s3.bucket, origins)
}

/** In words, without its keys. */
export const placeOf = ({ s3, dataDir }: Pick<Config, 's3' | 'dataDir'>): string =>
  s3 === undefined ? `the folder "${dataDir}"` : `the bucket "${s3.bucket}"`

function within(part: string, examined: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  return withFallback(examined, LIMIT_MS, late(part))
}

const late = (part: string): readonly Finding[] =>
  new Findings(part).problem(
    `could not be looked at within ${LIMIT_MS / 1000} s`,
    'See what the log says of it',
  ).all

/** Asks the database as functions and requests do. */
async function examinePostgres(run: RunStatement): Promise<FoundServer> {
  const findings = new Findings('postgres')
  try {
    const wayMs = await wayThereAndBack(run)
    const facts = await selectServerFacts(run)
    const nowMs = Date.now()
    const there = `PostgreSQL ${facts.version} answers in ${milliseconds(wayMs)}`
    if (wayMs < SLOW_MS) findings.ok(there)
    else findings.warning(there, 'Each statement waits so long: bring database and service closer')
    judgeServer(findings, facts)
    judgeClock(findings, facts.nowMs - nowMs)
    return { findings: findings.all, replicas: facts.replicas }
  } catch (error) {
    findings.problem(
      `does not answer: ${reasonOf(error)}`,
      'See whether the server runs and takes connections from here; functions that need no table go on',
    )
    return { findings: findings.all, replicas: undefined }
  }
}

async function wayThereAndBack(run: RunStatement): Promise<number> {
  let shortestMs = Infinity
  for (let tries = 0; tries < TRIES; tries += 1) {
    const askedMs = performance.now()
    await selectNothing(run)
    shortestMs = Math.min(shortestMs, performance.now() - askedMs)
  }
  return shortestMs
}

export function judgeServer(findings: Findings, facts: ServerFacts): void {
  if (facts.fsync !== 'on' || facts.fullPageWrites !== 'on') {
    findings.problem(
      `fsync is ${facts.fsync}, full_page_writes is ${facts.fullPageWrites}`,
      'Set both to on: what was acknowledged is lost when the machine goes down',
    )
  }
  if (facts.synchronousCommit === 'off') {
    findings.problem(
      'synchronous_commit is off',
      'Set it to on, or the last writes that were acknowledged are lost when the server ends',
    )
  }
  if (facts.isStandby) {
    findings.problem(
      'the server is a standby, which takes no writes',
      'Lead DATABASE_URL to the primary',
    )
  }
  if (facts.autovacuum !== 'on') {
    findings.warning('autovacuum is off', 'Set it to on: tables grow, and statements get slower')
  }
  if (facts.transactionAge > OLD_TRANSACTIONS) {
    findings.problem(
      `the oldest row is ${Math.round(facts.transactionAge / 1e6)} million transactions old`,
      'At 2,000 million the server takes no more writes: run VACUUM (FREEZE) in the database that is named by pg_database.datfrozenxid',
    )
  }
  if (facts.connections > facts.maxConnections * CONNECTIONS_SHARE) {
    findings.warning(
      `${facts.connections} of ${facts.maxConnections} connections are in use`,
      'Raise max_connections, or put a pooler before it: each replica takes 21',
    )
  }
}

export function judgeClock(findings: Findings, aheadMs: number): void {
  if (Math.abs(aheadMs) <= CLOCK_APART_MS) return
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  findings.warning(
    `its clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`,
    'Run an NTP client on both: signed URLs and tokens use this clock, jobs that of the database',
  )
}
