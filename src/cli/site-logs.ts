import { setTimeout as delay } from 'node:timers/promises'

import { Value } from '@sinclair/typebox/value'
import { createParser } from 'eventsource-parser'

import { terminalJson } from '#base/terminal-text.ts'
import { LogRecord } from '#runtime/logs/model.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, flagOption, textOption } from './command.ts'
import { UsageError, ServiceRefusal } from './errors.ts'
import { LIMIT_OPTION, limitOf } from './limit-option.ts'
import { itemPage } from './list-command.ts'
import { sitePath, type ServiceClient } from './service-client.ts'

const LogPage = itemPage(LogRecord)

const FILTERS = ['operation', 'level', 'since', 'requestId'] as const

export const siteLogs: CliCommand = {
  name: 'site logs',
  summary: 'Print the log of site code and the errors of its calls, the newest last',
  words: ['DOMAIN'],
  deployToken: true,
  options: [
    textOption('--operation <name>', 'of one operation'),
    textOption('--request-id <id>', 'of one request, as X-Request-Id names it'),
    textOption('--level <level>', 'the lowest level: debug, info, warn or error'),
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

/** As long as the service asks its clients to wait. */
const RETRY_MS = 2000

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

/** The lines of a site's log as they are written. A stream that breaks off is taken up after the last line, until the service refuses it. */
async function* followedLogs(
  service: ServiceClient,
  path: string,
  progress: (line: string) => void,
): AsyncGenerator<LogRecord, never, undefined> {
  let lastId: string | undefined
  for (;;) {
    try {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
      const response = await service.portalStream('GET', path, { headers })
      for await (const { id, line } of linesOf(response.setEncoding('utf8'))) {
        lastId = id ?? lastId
        yield line
      }
    } catch (error) {
      if (error instanceof ServiceRefusal) throw error
      progress(`${error instanceof Error ? error.message : String(error)}: trying again`)
    }
    await delay(RETRY_MS)
  }
}

async function* linesOf(
  texts: AsyncIterable<string>,
): AsyncGenerator<{ readonly id: string | undefined; readonly line: LogRecord }> {
  const lines: { readonly id: string | undefined; readonly line: LogRecord }[] = []
  const parser = createParser({
    onEvent({ event, id, data }) {
      const line: unknown = event === 'log' ? JSON.parse(data) : undefined
      if (Value.Check(LogRecord, line)) lines.push({ id, line })
    },
  })
  for await (const text of texts) {
    parser.feed(text)
    yield* lines.splice(0)
  }
}
