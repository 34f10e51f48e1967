import { Type } from '@sinclair/typebox'

import { terminalJson } from '#base/terminal-text.ts'
import { LogRecord } from '#runtime/logs/model.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, flagOption, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { followedLogs } from './followed-logs.ts'
import { LIMIT_OPTION, limitOf } from './limit-option.ts'
import { sitePath } from './service-client.ts'

const LogPage = Type.Object({
  items: Type.Array(LogRecord),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

const FILTERS = ['operation', 'level', 'since', 'requestId'] as const

export const siteLogs: CliCommand = {
  name: 'site logs',
  summary: 'Print what site code wrote and what ended its calls, the newest last',
  words: ['DOMAIN'],
  deployToken: true,
  options: [
    textOption('--operation <name>', 'of one operation'),
    textOption('--request-id <id>', 'of one request, as X-Request-Id names it'),
    textOption('--level <level>', 'debug, info, warn or error, and what is worse'),
    textOption('--since <time>', 'from then on, like 2026-01-31T12:00:00Z'),
    flagOption('--follow', 'print lines as they are written, until interrupted'),
    LIMIT_OPTION,
  ],
  async run({ args, service, progress }) {
    const filters = filtersIn(args)
    const path = sitePath(args.word, '/logs')
    if (args.flag('follow')) {
      if (args.text('limit') !== undefined) throw new UsageError('--limit goes without --follow')
      const query = new URLSearchParams({ ...filters, follow: 'true' }).toString()
      const lines = followedLogs(service, `${path}?${query}`, progress)
      return { bytes: encoded(lines, args.flag('json')) }
    }
    const items = await service.portalItems(LogPage, path, { filters, atMost: limitOf(args) })
    const rows = items.toReversed().map(cellsOf)
    return {
      json: { items: items.toReversed() },
      text: rows.length === 0 ? 'Nothing yet' : columns(rows),
    }
  },
}

function filtersIn(args: Arguments): Record<string, string> {
  const filters: Record<string, string> = {}
  for (const name of FILTERS) {
    const text = args.text(name)
    if (text !== undefined) filters[name] = text
  }
  return filters
}

const cellsOf = ({ at, level, operation, requestId, message }: LogRecord): string[] =>
  [at, level, operation ?? '-', requestId ?? '-', message].map(printable)

async function* encoded(
  lines: AsyncIterable<LogRecord>,
  asJson: boolean,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const line of lines) {
    yield encoder.encode(`${asJson ? terminalJson(line) : cellsOf(line).join('  ')}\n`)
  }
}
