import {
  type DestinationStream,
  type LogFn,
  type Logger as PinoLogger,
  pino,
  stdSerializers,
} from 'pino'

import type { Config } from '#config/config.ts'

const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'idToken',
  'secret',
  'clientSecret',
  'operatorKey',
  'masterKey',
  'databaseUrl',
  'redisUrl',
]

/** The second wall: callers leave secrets out, and what slips through is blotted here, down to the third level. */
const PATHS = SECRET_NAMES.flatMap((name) =>
  ['', '*.', '*.*.'].map((prefix) => `${prefix}["${name}"]`.replace('.[', '[')),
)

/** Fields in which PostgreSQL repeats the values of a row or of a statement's parameters. */
const ROW_FIELDS: ReadonlySet<string> = new Set(['detail', 'where', 'query', 'parameters', 'args'])

/** How far the causes of an error are followed. */
const MAX_CAUSES = 5

/** Writes JSON lines to the destination. */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  destination: DestinationStream,
): PinoLogger {
  return pino(
    {
      level: config.logLevel,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: withoutRows },
      hooks: { logMethod: withoutRepeats },
      redact: { paths: PATHS, censor: '[secret]' },
    },
    destination,
  )
}

/** Leaves out what only says again that a part is away: two minutes without a database would fill a disk. */
function withoutRepeats(this: PinoLogger, args: Parameters<LogFn>, method: LogFn): void {
  const [fields]: unknown[] = args
  if (!isRepeat(fields) && !(hasError(fields) && isRepeat(fields.err))) method.apply(this, args)
}

const hasError = (fields: unknown): fields is { readonly err: unknown } =>
  typeof fields === 'object' && fields !== null && 'err' in fields

/** What libraries make of an error keeps its fields, or has it for its cause. */
function isRepeat(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSES) return false
  if ('isLogged' in error && error.isLogged === true) return true
  return 'cause' in error && isRepeat(error.cause, depth + 1)
}

/** An error, its stack and its causes, without what a database said of somebody's data. */
function withoutRows(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const fields = Object.entries(stdSerializers.err(error))
  return Object.fromEntries(fields.filter(([name]) => !ROW_FIELDS.has(name)))
}
