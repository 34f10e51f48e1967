import { createParser } from 'eventsource-parser'

import { currentSession } from '#app/session/current-session.ts'

import { errorOf } from '../../../../sdk/error.ts'
import type { LogLine, LogQuery } from './log-filter.ts'

/** The service sends a sign of life every 15 seconds. */
const SILENCE_MS = 45_000

export interface LogStreamRequest {
  readonly query: LogQuery
  /** The id of the last line that is known; '0' before the first. */
  readonly after: string
  readonly signal: AbortSignal
  readonly onOpen: () => void
  /** Lines that arrived together, oldest first. */
  readonly onLines: (lines: readonly LogLine[]) => void
}

/** Reads the log as it is written, until the service ends the stream or it is silent. Rejects with a `CroftError` when it is refused. */
export async function streamLog(request: LogStreamRequest): Promise<void> {
  const silence = new AbortController()
  const signal = AbortSignal.any([request.signal, silence.signal])
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(new Error('The stream is silent')), SILENCE_MS)
  }
  try {
    wait()
    const { body } = await open(request, signal)
    if (body === null) return
    request.onOpen()
    const parse = logEvents(request.onLines)
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      wait()
      parse(text)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Returns what takes the text of an event stream, piece by piece. */
export function logEvents(onLines: LogStreamRequest['onLines']): (text: string) => void {
  let lines: LogLine[] = []
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'log') lines.push(JSON.parse(data) as LogLine)
    },
  })
  return (text) => {
    parser.feed(text)
    const arrived = lines
    lines = []
    if (arrived.length > 0) onLines(arrived)
  }
}

async function open({ query, after }: LogStreamRequest, signal: AbortSignal): Promise<Response> {
  const session = currentSession()
  const token = await session.accessToken()
  const parameters = new URLSearchParams({ ...query, follow: 'true' })
  const send = async (bearer: string) =>
    fetch(`/admin/data/logs?${parameters}`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${bearer}`,
        'last-event-id': after,
      },
      credentials: 'omit',
      redirect: 'error',
      signal,
    })
  let response = await send(token)
  if (response.status === 401) response = await send(await session.freshToken(token))
  if (!response.ok) throw await errorOf(response)
  return response
}
