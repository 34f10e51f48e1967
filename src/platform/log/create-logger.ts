import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino'

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
      redact: { paths: PATHS, censor: '[secret]' },
    },
    destination,
  )
}

/** An error, its stack and its causes, without what a database said of somebody's data. */
function withoutRows(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const fields = Object.entries(stdSerializers.err(error))
  return Object.fromEntries(fields.filter(([name]) => !ROW_FIELDS.has(name)))
}
