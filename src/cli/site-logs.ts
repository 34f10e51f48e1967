import { Type } from '@sinclair/typebox'

import { LogRecord } from '#runtime/logs/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, textOption } from './command.ts'
import { LIMIT_OPTION, limitOf } from './limit-option.ts'
import { sitePath } from './service-client.ts'

const LogPage = Type.Object({
  items: Type.Array(LogRecord),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

export const siteLogs: CliCommand = {
  name: 'site logs',
  summary: 'What site code printed and what ended its calls, the newest last',
  words: ['DOMAIN'],
  deployToken: true,
  options: [
    textOption('--operation <name>', 'of one operation'),
    textOption('--level <level>', 'debug, info, warn or error, and what is worse'),
    textOption('--since <time>', 'from then on, like 2026-01-31T12:00:00Z'),
    LIMIT_OPTION,
  ],
  async run({ args, service }) {
    const atMost = limitOf(args)
    const filters: Record<string, string> = {}
    for (const name of ['operation', 'level', 'since'] as const) {
      const text = args.text(name)
      if (text !== undefined) filters[name] = text
    }
    const path = sitePath(args.word, '/logs')
    const items = (await service.portalItems(LogPage, path, { filters, atMost })).toReversed()
    const rows = items.map(({ at, level, operation, message }) =>
      [at, level, operation ?? '-', message].map(printable),
    )
    return { json: { items }, text: rows.length === 0 ? 'Nothing yet' : columns(rows) }
  },
}
