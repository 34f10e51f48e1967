import { type Env, EnvReader } from './env-reader.ts'
import * as parse from './parsers.ts'

/** What backups need beside the configuration of the service. */
export interface BackupEnv {
  /** For the rows of all sites, where the role of `DATABASE_URL` does not see them. */
  readonly databaseUrl: string | undefined
  /** Where a bucket of backups is; undefined for where the service's own is. */
  readonly s3: BackupS3 | undefined
}

export interface BackupS3 {
  readonly endpoint: string | undefined
  readonly region: string
  readonly forcePathStyle: boolean
  /** Both or neither: without them AWS's own places are searched. */
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
}

export function loadBackupEnv(env: Env): BackupEnv {
  const reader = new EnvReader(env)
  const databaseUrl = reader.readSecret(
    'BACKUP_DATABASE_URL',
    parse.url('postgres', 'postgresql'),
    'postgres://postgres:secret@127.0.0.1:5432/croft',
  )
  const s3 = readBackupS3(reader)
  reader.finish('BACKUP_')
  return { databaseUrl, s3 }
}

function readBackupS3(env: EnvReader): BackupS3 | undefined {
  const endpoint = env.read(
    'BACKUP_S3_ENDPOINT',
    parse.url('http', 'https'),
    'https://s3.example.com',
  )
  const region = env.read('BACKUP_S3_REGION', parse.anyText, 'eu-central-1')
  const forcePathStyle = env.read('BACKUP_S3_FORCE_PATH_STYLE', parse.trueOrFalse, 'true')
  const accessKeyId = env.readSecret('BACKUP_S3_ACCESS_KEY_ID', parse.anyText, 'AKIA…')
  const secretAccessKey = env.readSecret('BACKUP_S3_SECRET_ACCESS_KEY', parse.anyText, '…')
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    env.fault('BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY: set both, or neither')
  }
  const all = [endpoint, region, forcePathStyle, accessKeyId]
  if (all.every((value) => value === undefined)) return undefined
  return {
    endpoint,
    region: region ?? 'us-east-1',
    forcePathStyle: forcePathStyle ?? endpoint !== undefined,
    accessKeyId,
    secretAccessKey,
  }
}
