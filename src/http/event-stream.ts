import { AppError } from '#base/app-error.ts'

interface StreamedEvent {
  readonly event: string
  /** A client that comes back says the last one it had, as `Last-Event-ID`. */
  readonly id?: string
  readonly data: unknown
}

/** Where the events come from. None of them is a sign of life, and an `AppError` ends the stream: rights are over. */
export interface EventStreamSource {
  events(signal: AbortSignal): AsyncGenerator<readonly StreamedEvent[], void, undefined>
}

const encoder = new TextEncoder()

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Proxies that buffer would hold the events back.
  'x-accel-buffering': 'no',
}

/** Server-sent events, until the source or the client ends them. */
export function eventStream(request: Request, source: EventStreamSource): Response {
  // Elysia would read a body to its end, which never comes.
  if (request.method === 'HEAD') return new Response(null, { headers: HEADERS })
  const left = new AbortController()
  const events = source.events(AbortSignal.any([request.signal, left.signal]))
  const stop = async () => {
    left.abort()
    await events.return()
  }
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode('retry: 2000\n\n'))
    },
    async pull(controller) {
      const batch = await nextOf(events)
      if (batch !== undefined) {
        controller.enqueue(encoder.encode(textOf(batch)))
        return
      }
      await stop()
      controller.close()
    },
    cancel: stop,
  })
  return new Response(stream, { headers: HEADERS })
}

async function nextOf(
  events: AsyncGenerator<readonly StreamedEvent[], void, undefined>,
): Promise<readonly StreamedEvent[] | undefined> {
  try {
    const { value, done } = await events.next()
    return done ? undefined : value
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** No event is a comment, which keeps the connection open. JSON has no raw line breaks: one data line each. */
function textOf(batch: readonly StreamedEvent[]): string {
  if (batch.length === 0) return ': still here\n\n'
  return batch
    .map(({ id, event, data }) => {
      const named = id === undefined ? '' : `id: ${id}\n`
      return `${named}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    })
    .join('')
}
