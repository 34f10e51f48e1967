import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { systemClock } from '#base/clock.ts'
import { ifMissing } from '#base/error-code.ts'
import type { Config, Secrets } from '#config/config.ts'
import { hasMasterKey } from '#config/keys.ts'
import { freeSpaceOf } from '#platform/disk/free-space.ts'
import type { Logger } from '#platform/log/logger.ts'
import { openObjects } from '#platform/objects/open-objects.ts'
import { assertUsable } from '#platform/postgres/assert-usable.ts'
import { openSharedCache } from '#platform/redis/redis-shared-cache.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'

import { placeOf } from './examine.ts'
import { type Finding, Findings, megabytes, reasonOf } from './finding.ts'
import { examineAddress, examineKeys } from './installation-findings.ts'
import { examineLimits } from './machine-findings.ts'
import { examineCertificate, examineGateway } from './mail-findings.ts'
import { examineObjects, examineSharing } from './store-findings.ts'

const LEAST_FREE_BYTES = 512 * 2 ** 20

interface Stopped {
  readonly config: Config
  readonly secrets: Secrets
  readonly logger: Logger
}

/** What a service that does not run would find at its start. Changes nothing. */
export async function examineStopped(settings: Stopped): Promise<readonly Finding[]> {
  const { config, secrets } = settings
  const folder = await examineFolder(config.dataDir)
  const found = await Promise.all([
    examineDatabase(config.dataDir, secrets),
    examineMasterKey(config.dataDir, secrets),
    examineKeys(config.dataDir),
    // Files would make their folder.
    config.s3 === undefined ? [] : examineStore(settings),
    secrets.redisUrl === undefined ? [] : examineRedis(settings),
    secrets.smtpUrl === undefined ? [] : examineMail(secrets.smtpUrl),
    config.mail.smtpTls === undefined ? [] : examineCertificate(config, systemClock),
    examineLimits(config.sandbox),
  ])
  return [...folder, ...found.flat(), ...examineAddress(config)]
}

async function examineFolder(dataDir: string): Promise<readonly Finding[]> {
  const findings = new Findings('disk')
  try {
    const { freeBytes } = await freeSpaceOf(dataDir)
    const says = `"${dataDir}" has ${megabytes(freeBytes)} left`
    if (freeBytes >= LEAST_FREE_BYTES) return findings.ok(says).all
    return findings.problem(says, 'Make room: the service refuses writes, or does not start').all
  } catch (error) {
    return findings.warning(
      `the data folder "${dataDir}" is not there: ${reasonOf(error)}`,
      'The first start makes it; if there was one before, set CROFT_DATA_DIR to it',
    ).all
  }
}

async function examineDatabase(
  dataDir: string,
  { databaseUrl }: Pick<Secrets, 'databaseUrl'>,
): Promise<readonly Finding[]> {
  const findings = new Findings('postgres')
  if (databaseUrl === undefined) {
    const password = join(dataDir, 'postgres/password')
    const isThere = await stat(password).then(() => true, ifMissing(false))
    return findings.ok(
      isThere
        ? 'the embedded one is there, and starts with the service'
        : 'the first start makes an embedded one',
    ).all
  }
  try {
    await assertUsable(databaseUrl)
    return findings.ok('the database of DATABASE_URL answers').all
  } catch (error) {
    return findings.problem(reasonOf(error), 'The service does not start without it').all
  }
}

async function examineMasterKey(dataDir: string, secrets: Secrets): Promise<readonly Finding[]> {
  const isNew = secrets.databaseUrl === undefined
  if (isNew || (await hasMasterKey(dataDir, secrets))) return []
  return new Findings('keys').warning(
    'there is no master key here, and a start would make a new one',
    'If the database is in use already, set CROFT_MASTER_KEY to the key that it was made with',
  ).all
}

async function examineStore({ config, secrets, logger }: Stopped): Promise<readonly Finding[]> {
  const urls = { sign: () => Promise.reject(new Error('Nothing is signed here')) }
  await using store = await openObjects({ config, secrets, logger, urls })
  return await examineObjects(store, placeOf(config))
}

async function examineRedis({ config, secrets, logger }: Stopped): Promise<readonly Finding[]> {
  await using cache = await openSharedCache(secrets.redisUrl, logger)
  const sharing = { replicas: undefined, objectsInFiles: config.s3 === undefined }
  const findings = await examineSharing(cache, sharing)
  return findings.filter(({ part }) => part === 'redis')
}

async function examineMail(smtpUrl: string): Promise<readonly Finding[]> {
  await using gateway = new SmtpGateway(smtpUrl)
  return await examineGateway(gateway)
}
