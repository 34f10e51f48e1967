import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { type BodyRest, discardRest, isSkipped } from './unread-body.ts'

export interface NodeExchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Aborted when no client waits any more. */
  readonly stopped: AbortSignal
}

/** What the runtimes' types of a stream reader agree on. */
interface BodyReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: undefined }>
  cancel(): Promise<void>
}

/** Writes the response as fast as the client reads it; a client that goes away cancels the body. */
export async function sendResponse(response: Response, exchange: NodeExchange): Promise<void> {
  const { incoming, outgoing, stopped } = exchange
  const left = unreadBody(response, incoming)
  if (left !== undefined) outgoing.setHeader('connection', 'close')
  // A body that was not read would be taken for the next request on this connection.
  else if (!incoming.complete) outgoing.once('finish', () => incoming.resume())
  const { body } = response
  if (body === null || incoming.method === 'HEAD') {
    outgoing.writeHead(response.status, headersOf(response))
    void body?.cancel().catch(() => {})
  } else {
    await sendBody(response, body.getReader(), outgoing)
  }
  if (left !== undefined) {
    outgoing.flushHeaders()
    await discardRest(left, stopped)
  }
  outgoing.end()
}

/** What is left of the body after a refusal; undefined where that is nothing, or so little that it is skipped. */
function unreadBody(
  { status, headers }: Response,
  incoming: IncomingMessage,
): BodyRest | undefined {
  if (status < 400 || incoming.complete) return undefined
  const closes = headers.get('connection') === 'close'
  if (!closes && isSkipped(incoming.headers['content-length'])) return undefined
  const chunks: AsyncIterator<Buffer> = incoming.iterator({ destroyOnReturn: false })
  return {
    next: async () => (await chunks.next()).value?.byteLength,
    release: () => void chunks.return?.().catch(() => {}),
  }
}

function headersOf(response: Response): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  return headers
}

async function sendBody(
  response: Response,
  reader: BodyReader,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = () => void reader.cancel().catch(() => {})
  outgoing.once('close', gone)
  try {
    const headers = headersOf(response)
    if (isEventStream(response)) {
      outgoing.writeHead(response.status, headers).flushHeaders()
      await pump({ next: reader.read() }, reader, outgoing)
    } else {
      const { length, ...start } = await openingOf(reader)
      if (length !== undefined) headers['content-length'] ??= length
      outgoing.writeHead(response.status, headers)
      await pump(start, reader, outgoing)
    }
  } catch (error) {
    gone()
    throw error
  }
}

type Reading = ReturnType<BodyReader['read']>

/** The first chunk, and the length of the body when it ended there, as texts do. */
async function openingOf(
  reader: BodyReader,
): Promise<{ first?: Uint8Array; next?: Reading; length?: number }> {
  const first = await reader.read()
  if (first.done) return { length: 0 }
  const next = reader.read()
  // A rejection belongs to the code that awaits the read itself.
  next.catch(() => {})
  const ended = await Promise.race([next.then(({ done }) => done), nextTurn(false)])
  return ended
    ? { first: first.value, length: first.value.byteLength }
    : { first: first.value, next }
}

async function pump(
  { first, next }: { first?: Uint8Array; next?: Reading },
  reader: BodyReader,
  outgoing: ServerResponse,
): Promise<void> {
  if (first) await write(outgoing, first)
  for (let reading = next; reading !== undefined; reading = reader.read()) {
    const { done, value } = await reading
    if (done) return
    await write(outgoing, value)
  }
}

async function write(outgoing: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (outgoing.destroyed || outgoing.write(chunk)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      outgoing.off('drain', go).off('close', go)
      resolve()
    }
    outgoing.once('drain', go).once('close', go)
  })
}

const isEventStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
