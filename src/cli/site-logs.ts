import { Type } from '@sinclair/typebox'

import { LogRecord } from '#runtime/logs/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'
import { defined } from './site-options.ts'

const DEFAULT_LINES = 50
const MAX_LINES = 10_000

const LogPage = Type.Object({
  items: Type.Array(LogRecord),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

export const siteLogs: CliCommand = {
  name: 'site logs',
  summary: 'What site code printed and what ended its calls, the newest last',
  argument: 'DOMAIN',
  deployToken: true,
  options: [
    textOption('--operation <name>', 'of one operation'),
    textOption('--level <level>', 'debug, info, warn or error, and what is worse'),
    textOption('--since <time>', 'from then on, like 2026-01-31T12:00:00Z'),
    textOption('--limit <lines>', `at most that many, ${DEFAULT_LINES} unless named`),
  ],
  async run({ args, service }) {
    const atMost = Number(args.text('limit') ?? DEFAULT_LINES)
    if (!Number.isInteger(atMost) || atMost < 1 || atMost > MAX_LINES) {
      throw new UsageError(`--limit is a whole number from 1 to ${MAX_LINES}`)
    }
    const named = defined({
      operation: args.text('operation'),
      level: args.text('level'),
      since: args.text('since'),
    })
    const filters = Object.fromEntries(
      Object.entries(named).map(([key, text]) => [key, String(text)]),
    )
    const path = sitePath(args.word, '/logs')
    const items = (await service.portalItems(LogPage, path, { filters, atMost })).toReversed()
    const rows = items.map(({ at, level, operation, message }) =>
      [at, level, operation ?? '-', message].map(printable),
    )
    return { json: { items }, text: rows.length === 0 ? 'Nothing yet' : columns(rows) }
  },
}
