import { join } from 'node:path'

import { systemClock } from '#base/clock.ts'
import { randomIds } from '#base/ids.ts'
import type { Config, Secrets } from '#config/config.ts'
import { openKeys } from '#config/keys.ts'
import { programVersion } from '#config/program-version.ts'
import { type AppContext, type Platform, openContext } from '#context'
import { httpApp } from '#http/app.ts'
import { operatorApp } from '#http/operator-app.ts'
import { RequestTraffic } from '#http/request-traffic.ts'
import { tracing } from '#http/traced-requests.ts'
import { builtConsole } from '#platform/console/built-console.ts'
import { DiskSpace } from '#platform/disk/disk-space.ts'
import { systemDns } from '#platform/dns/system-dns.ts'
import { HttpEgress } from '#platform/egress/http-egress.ts'
import { EventLoopLag } from '#platform/event-loop-lag.ts'
import type { Logger } from '#platform/log/logger.ts'
import { loneMailParser, sharedMailParser } from '#platform/mail-parser/process-mail-parser.ts'
import { openObjects } from '#platform/objects/open-objects.ts'
import { type OpenedPostgres, openPostgres } from '#platform/open-postgres.ts'
import { selectDatabaseTime } from '#platform/postgres/database-time.ts'
import { ballastOf } from '#platform/postgres/embedded/room-to-start.ts'
import { openCounters } from '#platform/redis/redis-counters.ts'
import { openSharedCache } from '#platform/redis/redis-shared-cache.ts'
import { assertMasterKey } from '#platform/seal/master-key-canary.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import { Outbox } from '#platform/smtp/outbox.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import { openTracer } from '#platform/tracing/tracer.ts'
import type { FirstRunResult } from '#sites/first-run/first-run.ts'

import { EarlySandbox } from './early-sandbox.ts'
import { makeFirstSite } from './first-site.ts'
import { type HttpServer, startHttpServer } from './platform/http-server/http-server.ts'

const DRAIN_MS = 25_000
/** What the operator still asks when the rest has ended. */
const OPERATOR_DRAIN_MS = 1000
/** From the signal on jobs have so long to finish; they are handed back then, and the next worker starts them again. */
const FINISH_JOBS_MS = 10_000
/** What jobs have in any case, once the last request is answered. */
const LEAST_FINISH_MS = 1000

export interface Service {
  readonly context: AppContext
  readonly port: number
  /** Undefined where the operator has no listener of its own. */
  readonly operatorPort: number | undefined
  /** Undefined for a process that takes no mail. */
  readonly smtpPort: number | undefined
  readonly submissionPort: number | undefined
  /** Makes the first site of an empty installation; undefined when there is nothing to do, or `stop` comes before. */
  firstRun(stop: AbortSignal): Promise<FirstRunResult | undefined>
  /** Answers everything that was accepted, finishes running jobs or hands them back, writes the last counts, stops what it started. */
  drain(): Promise<void>
}

/** The log, and what tells it the traces of requests. */
interface Logs {
  readonly logger: Logger
  readonly requestTraces: RequestTraces
}

/** The whole service: its outside systems, its workers and its HTTP server, as the configuration says. */
export async function startService(config: Config, secrets: Secrets, logs: Logs): Promise<Service> {
  await using started = new AsyncDisposableStack()
  const platform = await openPlatform(started, { config, secrets, ...logs })
  const context = started.use(await openContext(platform))
  const traffic = new RequestTraffic()
  const operator = await listenForOperator(context, traffic, started)
  // To the last: monitoring of a service sees how it ends.
  started.defer(() => operator?.drain(OPERATOR_DRAIN_MS))
  const work = config.roles.includes('worker') ? startWork(context) : undefined
  let drainedAt: number | undefined
  started.defer(() => work?.finish((drainedAt ?? performance.now()) + FINISH_JOBS_MS))
  const drainMail = () =>
    Promise.all([context.smtp, context.submission].map((listener) => listener.drain(DRAIN_MS)))
  started.defer(async () => void (await drainMail()))
  const takesMail = config.roles.includes('mail')
  const smtpPort = takesMail ? await context.smtp.start() : undefined
  const submissionPort = takesMail ? await context.submission.start() : undefined
  const server = config.roles.includes('api') ? await listen(context, traffic) : undefined
  started.defer(async () => {
    context.runtimeLogs.endStreams()
    context.mailboxStreams.endStreams()
    const drainBy = performance.now() + DRAIN_MS
    await Promise.all([server?.drain(DRAIN_MS), drainMail()])
    // What functions go on with after their answers.
    await context.sandbox.finishWork(Math.max(0, drainBy - performance.now()))
  })
  const resources = started.move()
  return {
    context,
    port: server?.port ?? config.port,
    operatorPort: operator?.port,
    smtpPort,
    submissionPort,
    firstRun: (stop) => makeFirstSite(context, platform.postgres, stop),
    drain: () => {
      drainedAt = performance.now()
      platform.postgres.stopRestarting()
      return resources.disposeAsync()
    },
  }
}

/** Opens the outside systems; `started` closes them again. */
async function openPlatform(
  started: AsyncDisposableStack,
  { config, secrets, logger, requestTraces }: Logs & { config: Config; secrets: Secrets },
) {
  const sandbox = started.use(new EarlySandbox({ config, logger }))
  const keys = await openKeys(config.dataDir, secrets)
  for (const file of keys.exposedFiles) logger.warn({ file }, 'others may read this key file')
  const postgres = started.use(await openPostgres({ config, secrets, log: logger }))
  const disk = started.use(await watchDisks(postgres, { config, logger }))
  const sealer = new Sealer(keys.masterKey)
  await assertMasterKey(postgres.sql, sealer)
  const parserDeps = { command: () => sandbox.mailParser(), logger }
  return {
    config,
    operatorKey: keys.operatorKey,
    logger,
    clock: systemClock,
    databaseTime: selectDatabaseTime,
    ids: randomIds,
    postgres,
    disk,
    sealer,
    sharedCache: started.use(await openSharedCache(secrets.redisUrl, logger)),
    counters: started.use(await openCounters(secrets.redisUrl, logger)),
    egress: new HttpEgress(),
    requestTraces,
    tracer:
      config.tracing &&
      started.use(await openTracer(config.tracing, { version: await programVersion(), logger })),
    dns: systemDns(config.dnsServers),
    mailTransport: started.use(openMailTransport(config, secrets)),
    mailParser: started.use(sharedMailParser(parserDeps)),
    loneMailParser: started.use(loneMailParser(parserDeps)),
    openObjects: (urls) => openObjects({ config, secrets, logger, urls }),
    openConsole: () => builtConsole(),
    openSandbox: (environment) => sandbox.open(environment),
  } satisfies Platform
}

/** Those that this process fills itself: the disk of another database or of S3 is not seen from here. */
async function watchDisks(
  { cluster }: OpenedPostgres,
  { config, logger: log }: { config: Config; logger: Logger },
): Promise<DiskSpace> {
  const { dataDir, diskReserveBytes: reserveBytes } = config
  const places = {
    folder: dataDir,
    ...(cluster !== undefined && { database: cluster }),
    ...(config.s3 === undefined && { objects: dataDir }),
  }
  const ballast = cluster === undefined ? undefined : ballastOf(cluster)
  return DiskSpace.open({ places, reserveBytes, ballast, log })
}

/** Works until `finish` is called. */
function startWork(context: AppContext): { finish(byMs: number): Promise<void> } {
  const [stop, handBack] = [new AbortController(), new AbortController()]
  const work = context.work(stop.signal, handBack.signal)
  return {
    async finish(byMs) {
      stop.abort()
      const leftMs = Math.max(LEAST_FINISH_MS, byMs - performance.now())
      const late = setTimeout(() => handBack.abort(), leftMs)
      await work.finally(() => clearTimeout(late))
    },
  }
}

function listen(context: AppContext, traffic: RequestTraffic): Promise<HttpServer> {
  const app = httpApp(context)
  const fetch = tracing(context, (request, peer) => app.fetch(request, peer))
  return startHttpServer({
    // Who asks for the counts does so at the operator's listener.
    fetch: context.config.operator === undefined ? fetch : traffic.counting(fetch),
    hostname: context.config.host,
    port: context.config.port,
    onError: serverFault(context),
  })
}

/** In every process that has a port for it, whatever its roles. */
async function listenForOperator(
  context: AppContext,
  traffic: RequestTraffic,
  started: AsyncDisposableStack,
): Promise<HttpServer | undefined> {
  const { operator } = context.config
  if (operator === undefined) return undefined
  const eventLoop = started.use(new EventLoopLag())
  const app = operatorApp(context, { traffic, eventLoop, version: await programVersion() })
  return startHttpServer({
    fetch: traffic.counting((request, peer) => app.fetch(request, peer)),
    hostname: operator.host,
    port: operator.port,
    settings: { host: 'OPERATOR_HOST', port: 'OPERATOR_PORT' },
    onError: serverFault(context),
  })
}

const serverFault =
  ({ logger }: AppContext) =>
  (error: unknown): void =>
    logger.error({ err: error }, 'the HTTP server failed outside the routes')

function openMailTransport({ dataDir }: Config, { smtpUrl }: Secrets): MailTransport {
  return smtpUrl === undefined ? new Outbox(join(dataDir, 'outbox')) : new SmtpGateway(smtpUrl)
}
