import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { parseTime } from '#base/parse-time.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** From the least to the most severe. */
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** console: printed by site code · failure: what ended a call · platform: a word of the runtime itself */
type LogKind = 'console' | 'failure' | 'platform'

export interface NewLogLine {
  readonly at: Date
  readonly level: LogLevel
  readonly kind: LogKind
  readonly operation: string | null
  readonly requestId: string | null
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>> | null
}

export const LogRecord = Type.Object(
  {
    logId: Type.String(),
    at: Type.String(),
    level: Type.String(),
    kind: Type.String(),
    operation: Type.Union([Type.String(), Type.Null()]),
    requestId: Type.Union([Type.String(), Type.Null()]),
    message: Type.String(),
    fields: Type.Optional(Type.Unknown()),
  },
  { title: 'LogLine' },
)
export type LogRecord = Static<typeof LogRecord>

/** What a reader of the log wants to see; absent means all. */
export interface LogFilter {
  readonly operation?: string | undefined
  /** This one and the more severe ones. */
  readonly level?: LogLevel | undefined
  readonly requestId?: string | undefined
  /** Inclusive. */
  readonly since?: Date | undefined
  /** Exclusive. */
  readonly until?: Date | undefined
}

export const parseFilter = ({
  operation,
  level,
  requestId,
  since,
  until,
}: Partial<Record<keyof LogFilter, string>>): LogFilter => ({
  operation,
  level: level === undefined ? undefined : parseLevel(level),
  requestId,
  since: parseTime('since', since),
  until: parseTime('until', until),
})

export const atLeastLevel = (level: LogLevel): readonly LogLevel[] =>
  LEVELS.slice(LEVELS.indexOf(level))

function parseLevel(text: string): LogLevel {
  const level = LEVELS.find((name) => name === text)
  if (!level) throw invalid('level', `must be one of ${LEVELS.join(', ')}`)
  return level
}
