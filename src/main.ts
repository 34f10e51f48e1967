import { constants } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { commandHere, welcome } from '#cli/welcome.ts'
import type { Config } from '#config/config.ts'
import { lockDataDir } from '#config/data-dir-lock.ts'
import { loadConfig } from '#config/load.ts'
import { writeServiceFile } from '#config/service-file.ts'
import { SetupError } from '#config/setup-error.ts'
import { createLogger } from '#platform/log/create-logger.ts'
import type { Logger } from '#platform/log/logger.ts'
import { logsJson, standardOutput } from '#platform/log/standard-output.ts'
import { runtimeName } from '#platform/runtime-name.ts'
import { endOrphanedJails } from '#platform/sandbox-host/isolation/orphaned-jails.ts'
import { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { FirstRunResult } from '#sites/first-run/first-run.ts'

import { type Service, startService } from './service.ts'

/** The signals that stop the service; SIGHUP comes when its terminal is closed. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** Under "npm start" a Ctrl-C arrives twice, because npm passes on a copy: within this time it counts once. */
const SAME_SIGNAL_MS = 500
/** Stops before the supervisor kills the process, as Kubernetes does after 30 seconds. */
const STOP_MS = 29_000

/** The process: reads the environment, runs the service until a signal, and is the only place that exits. */
async function main(): Promise<void> {
  const { config, secrets } = loadConfig(process.env)
  await using started = new AsyncDisposableStack()
  started.use(await lockDataDir(config.dataDir))
  const requestTraces = new RequestTraces()
  const logger = createLogger(config, standardOutput(config), requestTraces)
  endOnFault(logger)
  const pids = await endOrphanedJails(join(config.dataDir, 'cache'))
  if (pids.length > 0) logger.warn({ pids }, 'ended processes of a service that was killed')
  const signal = firstSignal()
  const service = await startService(config, secrets, { logger, requestTraces })
  started.defer(() => service.drain())
  const running = { url: urlOf(config.host, service.port), ...operatorAt(config, service) }
  started.use(
    await writeServiceFile(config.dataDir, {
      ...running,
      baseUrl: config.baseUrl,
      pid: process.pid,
    }),
  )
  logger.info(runningAs(config, service), `running at ${config.baseUrl}`)
  const stopping = new AbortController()
  void signal.then(() => stopping.abort())
  const first = await service.firstRun(stopping.signal)
  if (first) greet(first, { config, service, logger })
  logger.info({ signal: await signal }, 'draining')
  const late = setTimeout(() => {
    logger.fatal({ timeoutMs: STOP_MS }, 'not stopped in time')
    process.exit(1)
  }, STOP_MS)
  await started.disposeAsync()
  clearTimeout(late)
  logger.info('stopped')
}

/** Announces the first site: as one record where the log is JSON, otherwise as text for a person at the terminal. */
function greet(
  first: FirstRunResult,
  { config, service, logger }: { config: Config; service: Service; logger: Logger },
): void {
  const command = commandHere()
  if (logsJson(config)) {
    const next = `${command} site verify ${first.domain}`
    const { siteId, domain, mailbox, onboarding, fault } = first
    const invited = onboarding.map(({ email }) => email)
    const made = { siteId, domain, mailbox, invited, fault }
    return logger.info(made, `made the first site: "${next}" looks at it`)
  }
  const at = { baseUrl: config.baseUrl, smtpPort: service.smtpPort, command }
  process.stdout.write(`${welcome(first, at)}\n`)
}

/** The first signal drains, the second one kills. */
function firstSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let firstAt: number | undefined
  for (const name of SIGNALS) {
    process.on(name, () => {
      firstAt ??= performance.now()
      resolve(name)
      if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(128 + constants.signals[name])
    })
  }
  return promise
}

/** Uncaught errors may have left anything half done: the log says so, and the next start begins again. */
function endOnFault(logger: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    logger.fatal({ err: error }, 'ended by a fault')
    process.exit(1)
  })
  // An unhandled rejection leaves no caller in a wrong state: other sites' requests must not end for it.
  process.on('unhandledRejection', (error: unknown) => {
    logger.error({ err: error }, 'an unhandled rejection')
  })
}

/** Where it is reached, and where it keeps what it has. */
function runningAs(config: Config, service: Service) {
  const { smtpPort, submissionPort } = service
  return {
    address: urlOf(config.host, service.port),
    ...operatorAt(config, service),
    ...(smtpPort === undefined ? {} : { smtpPort }),
    ...(submissionPort === undefined ? {} : { submissionPort }),
    dataDir: config.dataDir,
    roles: config.roles,
    runtime: runtimeName(),
  }
}

/** The operator's own listener, where there is one. */
function operatorAt({ operator }: Config, { operatorPort }: Service): { operatorUrl?: string } {
  if (operator === undefined || operatorPort === undefined) return {}
  return { operatorUrl: urlOf(operator.host, operatorPort) }
}

function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function explained(error: unknown): string {
  if (error instanceof SetupError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

try {
  await main()
  process.exit(0)
} catch (error) {
  process.stderr.write(`croft: ${explained(error)}\n`)
  process.exit(1)
}
