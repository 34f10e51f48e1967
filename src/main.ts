import process from 'node:process'

import { welcome } from '#cli/welcome.ts'
import { lockDataDir } from '#config/data-dir-lock.ts'
import { loadConfig } from '#config/load.ts'
import { writeServiceFile } from '#config/service-file.ts'
import { SetupError } from '#config/setup-error.ts'
import { createLogger } from '#platform/log/create-logger.ts'

import { type Service, startService } from './service.ts'

/** The process: reads the environment, runs the service until a signal, and is the only place that exits. */
async function main(): Promise<void> {
  const { config, secrets } = loadConfig(process.env)
  await using started = new AsyncDisposableStack()
  started.use(await lockDataDir(config.dataDir))
  const logger = createLogger(config)
  const signal = firstSignal()
  const service = await startService(config, secrets, logger)
  started.defer(() => service.drain())
  const running = { url: urlOf(config.host, service), pid: process.pid }
  started.use(await writeServiceFile(config.dataDir, running))
  const first = await service.firstRun()
  if (first) process.stdout.write(`${welcome(first, config.baseUrl)}\n`)
  const name = await signal
  logger.info({ signal: name }, 'draining')
  process.once('SIGTERM', () => process.exit(143)).once('SIGINT', () => process.exit(130))
  await started.disposeAsync()
  logger.info('stopped')
}

/** The first signal drains, the second one kills. */
function firstSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve)
  return promise
}

function urlOf(host: string, { port }: Service): string {
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
