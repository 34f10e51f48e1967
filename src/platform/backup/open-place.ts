import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'

import { systemClock } from '#base/clock.ts'
import { hasCode } from '#base/error-code.ts'
import type { BackupEnv, BackupS3 } from '#config/backup-env.ts'
import type { Config, Secrets } from '#config/config.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { S3ObjectStore } from '#platform/objects/s3-object-store.ts'

import type { BackupPlace } from './backup-place.ts'
import { FolderPlace } from './folder-place.ts'

/** Of the objects of a service: a bucket may hold both, under other prefixes. */
const TAKEN = /^(?:sites|kept)(?:\/|$)/
const S3_ADDRESS = /^s3:\/\/([a-z0-9.-]{3,63})(?:\/(.*?))?\/?$/
const PREFIX = /^(?:[\w.-]+(?:\/[\w.-]+)*)?$/

const LIST_PAGE = 1000

export interface PlaceSettings {
  readonly env: Pick<BackupEnv, 's3'>
  readonly config: Pick<Config, 's3'>
  readonly secrets: Pick<Secrets, 's3AccessKeyId' | 's3SecretAccessKey'>
  readonly logger: Logger
}

/** A folder, or `s3://bucket/prefix`. */
export async function openBackupPlace(
  address: string,
  purpose: 'read' | 'write',
  settings: PlaceSettings,
): Promise<BackupPlace> {
  if (!/^[a-z0-9]+:\/\//.test(address)) return FolderPlace.open(resolve(address), purpose)
  const [, bucket, prefix = ''] = S3_ADDRESS.exec(address) ?? []
  if (bucket === undefined || !PREFIX.test(prefix) || TAKEN.test(prefix)) {
    throw new SetupError(
      `"${address}" is no place for backups: name a folder, or s3://bucket/prefix with a prefix of letters, digits, "-", "_" and ".", other than "sites" and "kept"`,
    )
  }
  const store = new S3ObjectStore(
    { ...s3Of(settings), bucket },
    { clock: systemClock, logger: settings.logger },
  )
  return new S3Place(store, { bucket, prefix })
}

/** The service's own S3 serves backups, too, unless another is named. */
function s3Of({ env, config, secrets }: PlaceSettings): BackupS3 {
  if (env.s3 !== undefined) return env.s3
  const { endpoint, region, forcePathStyle } = config.s3 ?? {
    endpoint: undefined,
    region: 'us-east-1',
    forcePathStyle: false,
  }
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = secrets
  return { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey }
}

/** A prefix in a bucket of S3. */
export class S3Place implements BackupPlace {
  readonly address: string
  readonly #store: ObjectStore
  readonly #prefix: string

  constructor(store: ObjectStore, { bucket, prefix }: { bucket: string; prefix: string }) {
    this.#store = store
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.address = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  }

  async read(name: string): Promise<Buffer | undefined> {
    const found = await this.#store.get(this.#prefix + name)
    return found && buffer(found.body)
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#store.put(this.#prefix + name, bytes)
  }

  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    try {
      await this.#store.put(this.#prefix + name, bytes, { ifNoneMatch: '*' })
      return true
    } catch (error) {
      if (hasCode(error, 'PreconditionFailed')) return false
      throw error
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    let continuation: string | undefined
    do {
      const page = await this.#store.list({
        prefix: `${this.#prefix}${folder}/`,
        maxKeys: LIST_PAGE,
        ...(continuation !== undefined && { continuation }),
      })
      for (const { key } of page.objects) yield key.slice(this.#prefix.length)
      continuation = page.continuation
    } while (continuation !== undefined)
  }

  async delete(name: string): Promise<void> {
    await this.#store.delete(this.#prefix + name)
  }

  /** S3 acknowledges what it keeps. */
  async flush(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
