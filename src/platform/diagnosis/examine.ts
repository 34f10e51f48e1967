import type { Clock } from '#base/clock.ts'
import { withFallback } from '#base/with-timeout.ts'
import type { Config } from '#config/config.ts'
import { selectLastBackup } from '#platform/backup/last-backup-queries.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'

import { type Finding, Findings } from './finding.ts'
import { examineAddress, examineBackups, examineKeys } from './installation-findings.ts'
import { examineDisks, examineLimits } from './machine-findings.ts'
import { examineCertificate, examineGateway } from './mail-findings.ts'
import { examinePostgres } from './postgres-findings.ts'
import { examineBucketCors, examineObjects, examineSharing } from './store-findings.ts'

/** What a check may take. Who asks waits for the slowest. */
const LIMIT_MS = 15_000

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

/** Tries what the service stands on for real: each within its time. Never rejects. */
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
