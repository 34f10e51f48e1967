import { setTimeout as delay } from 'node:timers/promises'

import { Value } from '@sinclair/typebox/value'
import { createParser } from 'eventsource-parser'

import { LogRecord } from '#runtime/logs/model.ts'

import { ServiceRefusal } from './errors.ts'
import type { ServiceClient } from './service-client.ts'

/** As long as the service asks its clients to wait. */
const RETRY_MS = 2000

/** The lines of a site's log as they are written. A stream that breaks off is taken up after the last line, until the service refuses it. */
export async function* followedLogs(
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
