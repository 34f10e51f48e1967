import { join } from 'node:path'

import { systemClock } from '#base/clock.ts'
import type { Config, Secrets } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import { FileObjectStore, type FileObjectStoreDeps } from './file-object-store.ts'
import type { ObjectStore } from './object-store.ts'

/** The store that the configuration names: S3, or files in the data folder. */
export async function openObjects(opening: {
  readonly config: Pick<Config, 's3' | 'dataDir'>
  readonly secrets: Pick<Secrets, 's3AccessKeyId' | 's3SecretAccessKey'>
  readonly logger: Logger
  readonly urls: FileObjectStoreDeps['urls']
}): Promise<ObjectStore> {
  const { config, secrets, logger, urls } = opening
  if (config.s3 !== undefined) {
    const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = secrets
    // Its client is worth its memory only where there is an S3.
    const { S3ObjectStore } = await import('./s3-object-store.ts')
    return new S3ObjectStore(
      { ...config.s3, accessKeyId, secretAccessKey },
      { clock: systemClock, logger },
    )
  }
  const dir = join(config.dataDir, 'objects')
  return new FileObjectStore({ dir, urls, clock: systemClock }).open()
}
