import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { ifMissing } from '#base/error-code.ts'
import type { BackupEnv } from '#config/backup-env.ts'
import type { Config, Secrets } from '#config/config.ts'
import { lockDataDir } from '#config/data-dir-lock.ts'
import { hasMasterKey, readMasterKey } from '#config/keys.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { openObjects } from '#platform/objects/open-objects.ts'
import { assertUsable } from '#platform/postgres/assert-usable.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { runningEmbeddedUrl } from '#platform/postgres/embedded/running-url.ts'
import { Sealer } from '#platform/seal/sealer.ts'

import type { BackupKey } from './manifest.ts'

interface InstallationSettings {
  readonly config: Config
  readonly secrets: Secrets
  readonly env: BackupEnv
  readonly log: Logger
}

interface Installation extends AsyncDisposable {
  readonly databaseUrl: string
  readonly objects: ObjectStore
  readonly key: BackupKey
}

/** Beside a service that runs, or for one that does not: then an embedded database is started for as long as this is open. */
export async function openForBackup(settings: InstallationSettings): Promise<Installation> {
  const { config, secrets, env } = settings
  const given = env.databaseUrl ?? secrets.databaseUrl
  const databaseUrl = given ?? (await runningEmbeddedUrl(config.dataDir))
  if (databaseUrl !== undefined) return open(settings, databaseUrl)
  const password = join(config.dataDir, 'postgres/password')
  if ((await stat(password).catch(ifMissing(undefined))) === undefined) {
    throw new SetupError(
      `There is no database in the data folder "${config.dataDir}": run this with the environment of the service`,
    )
  }
  return openAlone(settings)
}

/** No other process may use it at the same time. */
export async function openForRestore(settings: InstallationSettings): Promise<Installation> {
  const { config, secrets } = settings
  // Before an embedded database is made, which asks for the key that it was made with.
  await readMasterKey(config.dataDir, secrets)
  return openAlone(settings)
}

async function openAlone(settings: InstallationSettings): Promise<Installation> {
  const { config, secrets, log } = settings
  await using opened = new AsyncDisposableStack()
  opened.use(await lockDataDir(config.dataDir))
  const url =
    secrets.databaseUrl ??
    opened.use(await startEmbeddedPostgres({ dataDir: config.dataDir, log })).url
  const installation = opened.use(await open(settings, url))
  const resources = opened.move()
  return { ...installation, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

async function open(settings: InstallationSettings, databaseUrl: string): Promise<Installation> {
  const { config, secrets, log: logger } = settings
  const masterKey = await readMasterKey(config.dataDir, secrets)
  await assertUsable(databaseUrl)
  const objects = await openObjects({ config, secrets, logger, urls: NO_URLS })
  return {
    databaseUrl,
    objects,
    key: backupKeyOf(masterKey),
    [Symbol.asyncDispose]: () => objects[Symbol.asyncDispose](),
  }
}

/** Of the installation whose environment this is, if it has one. */
export async function findBackupKey({
  config,
  secrets,
}: Pick<InstallationSettings, 'config' | 'secrets'>): Promise<BackupKey | undefined> {
  if (!(await hasMasterKey(config.dataDir, secrets))) return undefined
  return backupKeyOf(await readMasterKey(config.dataDir, secrets))
}

const backupKeyOf = (masterKey: Buffer): BackupKey => new Sealer(masterKey).derive('backup')

const NO_URLS = {
  sign: () => Promise.reject(new Error('A backup signs no URLs')),
}
