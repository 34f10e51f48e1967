import {
  type DestinationStream,
  type LogFn,
  type Logger as PinoLogger,
  pino,
  stdSerializers,
} from 'pino'

import type { Config } from '#config/config.ts'

type LogFields = Record<string, unknown>

/** Of which trace a request is part, by its id. */
interface KnownTraces {
  of(requestId: string): { readonly context: { readonly traceId: string } } | undefined
}

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

/** What PostgreSQL and the system call a full disk, or a quota that is used up. */
const FULL_DISK: ReadonlySet<unknown> = new Set(['DiskFull', '53100', 'ENOSPC', 'EDQUOT'])
const FULL_DISK_MS = 60_000

/** How far the causes of an error are followed. */
const MAX_CAUSES = 5

/** Writes JSON lines to the destination; those about a request that is part of a trace say of which. */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  destination: DestinationStream,
  traces?: KnownTraces,
): PinoLogger {
  return pino(
    {
      level: config.logLevel,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => withTrace(fields, traces),
      },
      serializers: { err: withoutRows },
      hooks: { logMethod: withoutRepeats() },
      redact: { paths: PATHS, censor: '[secret]' },
    },
    destination,
  )
}

/** The fields of a line, with the trace that its request is part of. */
function withTrace(fields: LogFields, traces: KnownTraces | undefined): LogFields {
  const { requestId } = fields
  const trace = typeof requestId === 'string' ? traces?.of(requestId) : undefined
  return trace === undefined ? fields : { ...fields, traceId: trace.context.traceId }
}

/**
 * Leaves out what only says again that a part is away: two minutes without a database would fill a disk. A full one is said
 * once a minute, with how often it was left out.
 */
function withoutRepeats() {
  let saidMs = -Infinity
  let repeats = 0
  return function logMethod(this: PinoLogger, args: Parameters<LogFn>, method: LogFn): void {
    const [fields, ...rest]: unknown[] = args
    const error = hasError(fields) ? fields.err : fields
    if (isRepeat(error)) return
    if (!tellsOfFullDisk(error)) return method.apply(this, args)
    if (performance.now() - saidMs < FULL_DISK_MS) {
      repeats += 1
      return
    }
    saidMs = performance.now()
    const about = hasError(fields) ? { ...fields, repeats } : fields
    repeats = 0
    method.apply(this, [about, ...rest] as Parameters<LogFn>)
  }
}

const hasError = (fields: unknown): fields is { readonly err: unknown } =>
  typeof fields === 'object' && fields !== null && 'err' in fields

function tellsOfFullDisk(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return false
  return ('code' in error && FULL_DISK.has(error.code)) || tellsOfFullDisk(error.cause, depth + 1)
}

/** What libraries make of an error keeps its fields, or has it for its cause. */
function isRepeat(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSES) return false
  if ('isLogged' in error && error.isLogged === true) return true
  return 'cause' in error && isRepeat(error.cause, depth + 1)
}

/** An error, its stack and its causes, without the rows that a database quotes. */
function withoutRows(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const fields = Object.entries(stdSerializers.err(error))
  return Object.fromEntries(fields.filter(([name]) => !ROW_FIELDS.has(name)))
}
