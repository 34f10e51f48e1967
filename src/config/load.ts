import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'

import {
  type Config,
  FORWARD_FROM,
  LOG_FORMATS,
  LOG_LEVELS,
  ROLES,
  type S3Config,
  type Secrets,
} from './config.ts'
import { type Env, EnvReader } from './env-reader.ts'
import { installRoot } from './install-root.ts'
import * as parse from './parsers.ts'

const MIB = 1024 * 1024
/** What all host processes together may have by default, at least. */
const MIN_SANDBOX_MB = 256
/** What one host process may have by default, where all together have as much. */
const MIN_HOST_MB = 1024
const MAX_HOST_MB = 4096
/** What there should be for each host. */
const MB_FOR_A_HOST = 256
/** A small site that is kept warm takes 3 MB; the rest is for what its calls need. */
const MB_FOR_A_WARM_SITE = 5
const LOOPBACK_HOST = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
const HOME_CONSOLE_DOMAIN = 'console.localhost'
const KEY_EXAMPLE = '<32 random bytes in base64>'

/** The whole environment, or one `SetupError` that lists every fault by the name of its variable. */
export function loadConfig(env: Env): { readonly config: Config; readonly secrets: Secrets } {
  const reader = new EnvReader(env)
  const secrets = readSecrets(reader)
  const config = readConfig(reader, secrets)
  // The command line's own: an operator that deploys by hand may start a service from the same shell.
  reader.readSecret('CROFT_DEPLOY_TOKEN', parse.anyText, 'croft_deploy_…')
  reader.readSecret('CROFT_ARCHIVE_PASSPHRASE', parse.anyText, 'a passphrase')
  reader.finish('CROFT_')
  return { config, secrets }
}

/** A request with a trace decides whether it is recorded. */
const SAMPLERS = ['parentbased_always_on', 'parentbased_traceidratio'] as const

function readConfig(env: EnvReader, secrets: Secrets): Config {
  // Without OPERATOR_PORT the operator's routes are on the same port, so they are open to the network by choice, not by default.
  const host = env.read('HOST', parse.hostOrAddress, '0.0.0.0') ?? '127.0.0.1'
  const port = env.read('PORT', parse.port, '8080') ?? 8080
  const baseUrl =
    env.read('CROFT_BASE_URL', parse.origin, 'https://croft.example.com') ??
    `http://localhost:${port}`
  const roles = parse.commaSeparated(parse.wordOf(ROLES))
  const proxies = parse.commaSeparated(parse.addressBlock)
  return Object.freeze({
    host,
    port,
    operator: readOperator(env, port),
    dataDir: readDataDir(env),
    diskReserveBytes: readDiskReserve(env),
    baseUrl,
    consoleDomain: readConsoleDomain(env, baseUrl),
    hsts: readHsts(env, baseUrl),
    roles: Object.freeze(env.read('CROFT_ROLES', roles, 'api,worker') ?? [...ROLES]),
    trustedProxies: Object.freeze(
      env.read('CROFT_TRUSTED_PROXIES', proxies, '127.0.0.1,10.0.0.0/8') ?? [],
    ),
    allowFileRepositories:
      env.read('CROFT_ALLOW_FILE_REPOSITORIES', parse.trueOrFalse, 'true') ?? false,
    logLevel: env.read('CROFT_LOG_LEVEL', parse.wordOf(LOG_LEVELS), 'info') ?? 'info',
    logFormat: env.read('CROFT_LOG_FORMAT', parse.wordOf(LOG_FORMATS), 'json') ?? 'auto',
    // See no-color.org: any value says so.
    logColors: env.read('NO_COLOR', parse.anyText, '1') === undefined,
    sandbox: readSandbox(env),
    streams: readStreams(env),
    tracing: readTracing(env),
    s3: readS3(env, secrets),
    dnsServers: readDnsServers(env),
    mail: readMail(env, { host, baseUrl }),
  })
}

/** At home, browsers lead every name below `localhost` to this machine. */
function readConsoleDomain(env: EnvReader, baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl)
  const given = env.read('CROFT_CONSOLE_DOMAIN', parse.consoleDomain, 'console.example.com')
  if (given === undefined) return LOOPBACK_HOST.test(hostname) ? HOME_CONSOLE_DOMAIN : undefined
  if (`.${hostname}`.endsWith(`.${given}`)) {
    env.fault(`CROFT_CONSOLE_DOMAIN: "${hostname}" of CROFT_BASE_URL is there: take another name`)
  }
  return given
}

function readDnsServers(env: EnvReader): Config['dnsServers'] {
  const servers = parse.commaSeparated(parse.dnsServer)
  const found = env.read('CROFT_DNS_SERVERS', servers, '192.0.2.53,[2001:db8::53]:5353')
  return found && Object.freeze(found)
}

/** Reached from this machine alone unless it is said otherwise: what is read there needs no key. */
function readOperator(env: EnvReader, publicPort: number): Config['operator'] {
  const port = env.read('OPERATOR_PORT', parse.integerIn(0, 65_535), '9464')
  const host = env.read('OPERATOR_HOST', parse.hostOrAddress, '0.0.0.0')
  if (port === undefined) {
    if (host !== undefined) env.fault('OPERATOR_HOST: says nothing without OPERATOR_PORT=9464')
    return undefined
  }
  if (port === publicPort) env.fault(`OPERATOR_PORT: ${port} is that of PORT: choose another`)
  return Object.freeze({ host: host ?? '127.0.0.1', port })
}

function readMail(
  env: EnvReader,
  { host, baseUrl }: Pick<Config, 'host' | 'baseUrl'>,
): Config['mail'] {
  return Object.freeze({
    smtpHost: env.read('SMTP_HOST', parse.hostOrAddress, '0.0.0.0') ?? host,
    smtpPort: env.read('SMTP_PORT', parse.integerIn(0, 65_535), '2525') ?? 2525,
    smtpHostname:
      env.read('SMTP_HOSTNAME', parse.hostOrAddress, 'mail.example.com') ??
      new URL(baseUrl).hostname,
    smtpTls: readSmtpTls(env),
    smtpLimits: readSmtpLimits(env),
    spfMechanisms: Object.freeze(
      env.read('SMTP_SPF', parse.spfMechanisms, 'include:spf.example.com') ?? [],
    ),
    forwardFrom: env.read('FORWARD_FROM', parse.wordOf(FORWARD_FROM), 'mailbox') ?? 'original',
    submissionPort: env.read('SUBMISSION_PORT', parse.integerIn(0, 65_535), '2587') ?? 2587,
  })
}

function readSmtpTls(env: EnvReader): Config['mail']['smtpTls'] {
  const certFile = env.read('SMTP_TLS_CERT', parse.anyText, '/etc/croft/fullchain.pem')
  const keyFile = env.read('SMTP_TLS_KEY', parse.anyText, '/etc/croft/privkey.pem')
  if ((certFile === undefined) !== (keyFile === undefined)) {
    env.fault('SMTP_TLS_CERT and SMTP_TLS_KEY: set both, or neither')
  }
  if (certFile === undefined || keyFile === undefined) return undefined
  return Object.freeze({ certFile: resolve(certFile), keyFile: resolve(keyFile) })
}

function readSmtpLimits(env: EnvReader): Config['mail']['smtpLimits'] {
  const count = (name: string, usual: number) =>
    env.read(name, parse.integerIn(1, 1_000_000_000), String(usual)) ?? usual
  return Object.freeze({
    messageBytes: count('SMTP_MAX_MESSAGE_BYTES', 35 * MIB),
    connections: count('SMTP_MAX_CONNECTIONS', 1000),
    connectionsPerNetwork: count('SMTP_MAX_CONNECTIONS_PER_NETWORK', 50),
    messagesPerMinutePerNetwork: count('SMTP_MESSAGES_PER_MINUTE_PER_NETWORK', 600),
    messagesPerMinutePerSite: count('SMTP_MESSAGES_PER_MINUTE_PER_SITE', 6000),
  })
}

function readDataDir(env: EnvReader): string {
  const given = env.read('CROFT_DATA_DIR', parse.anyText, '/var/lib/croft/data')
  return given === undefined ? join(installRoot(), '.croft') : resolve(given)
}

function readDiskReserve(env: EnvReader): number | undefined {
  const megabytes = env.read('CROFT_DISK_RESERVE_MB', parse.integerIn(0, 16_777_216), '512')
  return megabytes === undefined ? undefined : megabytes * MIB
}

/** Sites that are reached over TLS tell browsers so, unless the operator turns it off because a proxy does it. */
function readHsts(env: EnvReader, baseUrl: string): string | undefined {
  const given = env.read('CROFT_HSTS', parse.hsts, 'max-age=31536000; includeSubDomains')
  if (given === 'off') return undefined
  if (baseUrl.startsWith('https:')) return given ?? 'max-age=31536000'
  if (given !== undefined) {
    env.fault('CROFT_HSTS: browsers heed it over TLS alone; set CROFT_BASE_URL=https://… too')
  }
  return undefined
}

function readSandbox(env: EnvReader): Config['sandbox'] {
  const memory = parse.integerIn(256, 1_048_576)
  const isolates = parse.integerIn(1, 100_000)
  const given = {
    hosts: env.read('CROFT_SANDBOX_HOSTS', parse.integerIn(1, 256), '4'),
    hostMemoryMb: env.read('CROFT_SANDBOX_HOST_MEMORY_MB', memory, '2048'),
    memoryMb: env.read('CROFT_SANDBOX_MEMORY_MB', memory, '8192'),
    warmIsolates: env.read('CROFT_SANDBOX_WARM_ISOLATES', isolates, '256'),
  }
  return Object.freeze({
    ...sandboxBudget(given, { memoryBytes: machineMemory(), cores: availableParallelism() }),
    uid: env.read('CROFT_SANDBOX_UID', parse.integerIn(1, 4_294_967_293), '62000'),
    require: env.read('CROFT_SANDBOX_REQUIRE', parse.wordOf(['jail']), 'jail'),
  })
}

type SandboxBudget = Pick<Config['sandbox'], 'hosts' | 'hostMemoryMb' | 'memoryMb' | 'warmIsolates'>

/** How the machine's memory is shared out among hosts and what they keep warm, where the configuration does not say. */
export function sandboxBudget(
  given: { readonly [Name in keyof SandboxBudget]: SandboxBudget[Name] | undefined },
  machine: { readonly memoryBytes: number; readonly cores: number },
): SandboxBudget {
  const memoryMb = given.memoryMb ?? sandboxMemoryMbOf(machine.memoryBytes)
  const worthwhile = Math.min(machine.cores - 1, Math.floor(memoryMb / MB_FOR_A_HOST))
  const hosts = given.hosts ?? Math.max(2, worthwhile)
  const hostMemoryMb = given.hostMemoryMb ?? hostMemoryMbOf(memoryMb)
  const eachMb = Math.min(hostMemoryMb, Math.floor(memoryMb / hosts))
  return {
    hosts,
    hostMemoryMb,
    memoryMb,
    warmIsolates: given.warmIsolates ?? warmIsolatesOf(eachMb),
  }
}

/** How many small sites fit into so much memory of hosts. */
export const warmIsolatesOf = (memoryMb: number): number =>
  Math.floor(memoryMb / MB_FOR_A_WARM_SITE)

/** A quarter of what all hosts together may have, within bounds. */
export const hostMemoryMbOf = (sandboxMb: number): number =>
  Math.min(Math.max(Math.floor(sandboxMb / 4), MIN_HOST_MB), MAX_HOST_MB, sandboxMb)

/** Half of the machine's memory: the rest is the service's, the database's and the system's. */
export const sandboxMemoryMbOf = (machineBytes: number): number =>
  Math.max(Math.floor(machineBytes / MIB / 2), MIN_SANDBOX_MB)

function readStreams(env: EnvReader): Config['streams'] {
  const count = parse.integerIn(1, 1_000_000)
  return Object.freeze({
    perReplica: env.read('CROFT_STREAMS', count, '10000') ?? 10_000,
    perAddress: env.read('CROFT_STREAMS_PER_ADDRESS', count, '500') ?? 1000,
  })
}

/** What this process may have of it: a container's limit counts. */
function machineMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** By the names that OpenTelemetry gives them; what else there is of those the exporter reads itself. */
function readTracing(env: EnvReader): Config['tracing'] {
  const http = parse.url('http', 'https')
  const endpoint = env.read('OTEL_EXPORTER_OTLP_ENDPOINT', http, 'http://127.0.0.1:4318')
  env.read('OTEL_EXPORTER_OTLP_PROTOCOL', parse.wordOf(['http/json']), 'http/json')
  const serviceName = env.read('OTEL_SERVICE_NAME', parse.anyText, 'croft')
  const sampler = env.read('OTEL_TRACES_SAMPLER', parse.wordOf(SAMPLERS), SAMPLERS[0])
  const ratio = env.read('OTEL_TRACES_SAMPLER_ARG', parse.ratio, '0.01') ?? 1
  const isOff = env.read('OTEL_SDK_DISABLED', parse.wordOf(['true', 'false']), 'true') === 'true'
  if (endpoint === undefined || isOff) return undefined
  return Object.freeze({
    endpoint: endpoint.replace(/\/+$/, ''),
    serviceName: serviceName ?? 'croft',
    sampleRatio: sampler === 'parentbased_traceidratio' ? ratio : 1,
  })
}

function readS3(env: EnvReader, secrets: Secrets): S3Config | undefined {
  const endpoint = env.read('S3_ENDPOINT', parse.url('http', 'https'), 'https://s3.example.com')
  const region = env.read('S3_REGION', parse.anyText, 'eu-central-1')
  const bucket = env.read('S3_BUCKET', parse.anyText, 'croft')
  const forcePathStyle = env.read('S3_FORCE_PATH_STYLE', parse.trueOrFalse, 'true')
  const { s3AccessKeyId, s3SecretAccessKey } = secrets
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined)) {
    env.fault('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: set both, or neither')
  }
  if (bucket === undefined) {
    const others = [endpoint, region, forcePathStyle, s3AccessKeyId, s3SecretAccessKey]
    if (others.some((value) => value !== undefined)) {
      env.fault('S3_BUCKET: missing, though other S3_ variables are set, as in S3_BUCKET=croft')
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

function readSecrets(env: EnvReader): Secrets {
  const postgres = parse.url('postgres', 'postgresql')
  const redis = parse.url('redis', 'rediss')
  return Object.freeze({
    databaseUrl: env.readSecret(
      'DATABASE_URL',
      postgres,
      'postgres://croft:secret@127.0.0.1:5432/croft',
    ),
    redisUrl: env.readSecret('REDIS_URL', redis, 'redis://127.0.0.1:6379'),
    smtpUrl: env.readSecret('SMTP_URL', parse.smtpUrl, 'smtps://user:secret@mail.example.com'),
    operatorKey: env.readSecret('CROFT_OPERATOR_KEY', parse.operatorKey, KEY_EXAMPLE),
    masterKey: env.readSecret('CROFT_MASTER_KEY', parse.masterKey, KEY_EXAMPLE),
    s3AccessKeyId: env.readSecret('S3_ACCESS_KEY_ID', parse.anyText, 'AKIA…'),
    s3SecretAccessKey: env.readSecret('S3_SECRET_ACCESS_KEY', parse.anyText, '…'),
  })
}
