import type { ItemOf } from '#app/api/resources.ts'

export type LogLine = ItemOf<'/admin/data/logs'>

/** From the most severe to the least. */
export const LEVELS = ['error', 'warn', 'info', 'debug'] as const

/** What the service filters by. */
export interface LogQuery {
  readonly level?: string
  readonly operation?: string
  readonly requestId?: string
  /** RFC 3339, inclusive. */
  readonly since?: string
  /** RFC 3339, exclusive. */
  readonly until?: string
}

/** What the screen filters by itself, among the lines that are loaded. */
export interface LineFilter {
  readonly text: string
  /** The operations of a function; undefined means all. */
  readonly operations: ReadonlySet<string> | undefined
}

/** Ranges that end now, in minutes. */
export const RANGES = { '15m': 15, '1h': 60, '24h': 1440, '7d': 10_080 } as const
type Range = keyof typeof RANGES

const isRange = (text: string | null): text is Range => text !== null && text in RANGES

/** What the address of the screen asks the service for. */
export function logQueryOf(address: URLSearchParams, now: Date): LogQuery {
  const value = (name: string) => address.get(name) || undefined
  const range = address.get('range')
  const since = isRange(range) ? startOf(range, now) : timeOf(value('since'))
  const until = isRange(range) ? undefined : timeOf(value('until'))
  const level = LEVELS.find((known) => known === address.get('level'))
  const operation = value('operation')
  const requestId = value('requestId')
  return {
    ...(level !== undefined && { level }),
    ...(operation !== undefined && { operation }),
    ...(requestId !== undefined && { requestId }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
}

/** Whether a line passes what the screen filters by itself. Upper and lower case are the same. */
export function passes(line: LogLine, { text, operations }: LineFilter): boolean {
  if (operations !== undefined && !operations.has(line.operation ?? '')) return false
  return text === '' || line.message.toLowerCase().includes(text.toLowerCase())
}

/** Lines as JSON lines, oldest first. */
export const jsonLinesOf = (lines: readonly LogLine[]): string =>
  lines
    .toReversed()
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

const startOf = (range: Range, now: Date): string =>
  new Date(now.getTime() - RANGES[range] * 60_000).toISOString()

const timeOf = (text: string | undefined): string | undefined =>
  text === undefined || Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString()
