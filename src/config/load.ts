import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'

import { didYouMean } from '#base/did-you-mean.ts'

import { type Config, LOG_LEVELS, ROLES, type S3Config, type Secrets } from './config.ts'
import { type Env, EnvReader, type Variable } from './env-reader.ts'
import { installRoot } from './install-root.ts'
import * as parse from './parsers.ts'

const VARIABLES = {
  host: { name: 'HOST', parse: parse.hostName, example: '0.0.0.0' },
  port: { name: 'PORT', parse: parse.port, example: '8080' },
  dataDir: { name: 'CROFT_DATA_DIR', parse: parse.anyText, example: '/var/lib/croft/data' },
  baseUrl: { name: 'CROFT_BASE_URL', parse: parse.origin, example: 'https://croft.example.com' },
  hsts: {
    name: 'CROFT_HSTS',
    parse: parse.hsts,
    example: 'max-age=31536000; includeSubDomains',
  },
  roles: { name: 'CROFT_ROLES', parse: parse.listOf(parse.oneOf(ROLES)), example: 'api,worker' },
  trustedProxies: {
    name: 'CROFT_TRUSTED_PROXIES',
    parse: parse.listOf(parse.addressBlock),
    example: '127.0.0.1,10.0.0.0/8',
  },
  allowFileRepositories: {
    name: 'CROFT_ALLOW_FILE_REPOSITORIES',
    parse: parse.flag,
    example: 'true',
  },
  logLevel: { name: 'CROFT_LOG_LEVEL', parse: parse.oneOf(LOG_LEVELS), example: 'info' },
  hosts: { name: 'CROFT_SANDBOX_HOSTS', parse: parse.integer(1, 256), example: '4' },
  hostMemoryMb: {
    name: 'CROFT_SANDBOX_HOST_MEMORY_MB',
    parse: parse.integer(256, 1_048_576),
    example: '2048',
  },
  warmIsolates: {
    name: 'CROFT_SANDBOX_WARM_ISOLATES',
    parse: parse.integer(1, 100_000),
    example: '256',
  },
  s3Endpoint: {
    name: 'S3_ENDPOINT',
    parse: parse.url('http', 'https'),
    example: 'https://s3.example.com',
  },
  s3Region: { name: 'S3_REGION', parse: parse.anyText, example: 'eu-central-1' },
  s3Bucket: { name: 'S3_BUCKET', parse: parse.anyText, example: 'croft' },
  s3ForcePathStyle: { name: 'S3_FORCE_PATH_STYLE', parse: parse.flag, example: 'true' },
  smtpPort: { name: 'SMTP_PORT', parse: parse.port, example: '2525' },
  submissionPort: { name: 'SUBMISSION_PORT', parse: parse.port, example: '2587' },
} as const

const SECRET_VARIABLES = {
  databaseUrl: {
    name: 'DATABASE_URL',
    parse: parse.url('postgres', 'postgresql'),
    example: 'postgres://croft:secret@127.0.0.1:5432/croft',
    secret: true,
  },
  redisUrl: {
    name: 'REDIS_URL',
    parse: parse.url('redis', 'rediss'),
    example: 'redis://127.0.0.1:6379',
    secret: true,
  },
  smtpUrl: {
    name: 'SMTP_URL',
    parse: parse.smtpUrl,
    example: 'smtps://user:secret@mail.example.com',
    secret: true,
  },
  operatorKey: {
    name: 'CROFT_OPERATOR_KEY',
    parse: parse.operatorKey,
    example: '<32 random bytes in base64>',
    secret: true,
  },
  masterKey: {
    name: 'CROFT_MASTER_KEY',
    parse: parse.masterKey,
    example: '<32 random bytes in base64>',
    secret: true,
  },
  s3AccessKeyId: { name: 'S3_ACCESS_KEY_ID', parse: parse.anyText, example: 'AKIA…', secret: true },
  s3SecretAccessKey: {
    name: 'S3_SECRET_ACCESS_KEY',
    parse: parse.anyText,
    example: '…',
    secret: true,
  },
} as const satisfies Record<keyof Secrets, Variable<string>>

const NAMES = [...Object.values(VARIABLES), ...Object.values(SECRET_VARIABLES)].map(
  ({ name }) => name,
)

/** The whole environment, or one `SetupError` that lists every fault by the name of its variable. */
export function loadConfig(env: Env): { readonly config: Config; readonly secrets: Secrets } {
  const read = new EnvReader(env)
  reportUnknown(env, read)
  const secrets = readSecrets(read)
  const config = readConfig(read, secrets)
  read.finish()
  return { config, secrets }
}

function readConfig(read: EnvReader, secrets: Secrets): Config {
  const port = read.withDefault(VARIABLES.port, 8080)
  const baseUrl = read.withDefault(VARIABLES.baseUrl, `http://localhost:${port}`)
  return Object.freeze({
    // The operator's routes are on the same port, so the world is let in by choice, not by default.
    host: read.withDefault(VARIABLES.host, '127.0.0.1'),
    port,
    dataDir: readDataDir(read),
    baseUrl,
    hsts: readHsts(read, baseUrl),
    roles: Object.freeze(read.withDefault(VARIABLES.roles, [...ROLES])),
    trustedProxies: Object.freeze(read.withDefault(VARIABLES.trustedProxies, [])),
    allowFileRepositories: read.withDefault(VARIABLES.allowFileRepositories, false),
    logLevel: read.withDefault(VARIABLES.logLevel, 'info'),
    sandbox: Object.freeze({
      hosts: read.withDefault(VARIABLES.hosts, Math.max(2, availableParallelism() - 1)),
      hostMemoryMb: read.withDefault(VARIABLES.hostMemoryMb, 1024),
      warmIsolates: read.withDefault(VARIABLES.warmIsolates, 256),
    }),
    s3: readS3(read, secrets),
    mail: Object.freeze({
      smtpPort: read.withDefault(VARIABLES.smtpPort, 2525),
      submissionPort: read.withDefault(VARIABLES.submissionPort, 2587),
    }),
  })
}

function readDataDir(read: EnvReader): string {
  const given = read.optional(VARIABLES.dataDir)
  return given === undefined ? join(installRoot(), '.croft') : resolve(given)
}

/** Sites that are reached over TLS tell browsers so, unless the operator turns it off because a proxy does it. */
function readHsts(read: EnvReader, baseUrl: string): string | undefined {
  const given = read.optional(VARIABLES.hsts)
  if (given === 'off') return undefined
  if (baseUrl.startsWith('https:')) return given ?? 'max-age=31536000'
  if (given !== undefined) {
    read.fault('CROFT_HSTS: browsers heed it over TLS alone; set CROFT_BASE_URL=https://… too')
  }
  return undefined
}

function readS3(read: EnvReader, secrets: Secrets): S3Config | undefined {
  const endpoint = read.optional(VARIABLES.s3Endpoint)
  const region = read.optional(VARIABLES.s3Region)
  const bucket = read.optional(VARIABLES.s3Bucket)
  const forcePathStyle = read.optional(VARIABLES.s3ForcePathStyle)
  const { s3AccessKeyId, s3SecretAccessKey } = secrets
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined)) {
    read.fault('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: set both, or neither')
  }
  if (bucket === undefined) {
    const others = [endpoint, region, forcePathStyle, s3AccessKeyId, s3SecretAccessKey]
    if (others.some((value) => value !== undefined)) {
      read.fault('S3_BUCKET: missing, though other S3_ variables are set, as in S3_BUCKET=croft')
    }
    return undefined
  }
  return Object.freeze({
    endpoint,
    bucket,
    region: region ?? 'us-east-1',
    // Servers other than AWS rarely have a host name for every bucket.
    forcePathStyle: forcePathStyle ?? endpoint !== undefined,
  })
}

const readSecrets = (read: EnvReader): Secrets =>
  Object.freeze({
    databaseUrl: read.optional(SECRET_VARIABLES.databaseUrl),
    redisUrl: read.optional(SECRET_VARIABLES.redisUrl),
    smtpUrl: read.optional(SECRET_VARIABLES.smtpUrl),
    operatorKey: read.optional(SECRET_VARIABLES.operatorKey),
    masterKey: read.optional(SECRET_VARIABLES.masterKey),
    s3AccessKeyId: read.optional(SECRET_VARIABLES.s3AccessKeyId),
    s3SecretAccessKey: read.optional(SECRET_VARIABLES.s3SecretAccessKey),
  })

/** A misspelt name would otherwise be a default that nobody chose. */
function reportUnknown(env: Env, read: EnvReader): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith('CROFT_') || NAMES.some((known) => known === name)) continue
    const meant = didYouMean(name, NAMES)
    read.fault(`${name}: no such variable${meant === undefined ? '' : `; did you mean ${meant}?`}`)
  }
}
