import { AppError, invalid } from '#base/app-error.ts'
import type { LogRecord } from '#runtime/logs/model.ts'

type Follow = (options: {
  readonly after: string | undefined
  readonly signal: AbortSignal
}) => AsyncGenerator<LogRecord[], void, undefined>

const encoder = new TextEncoder()

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Proxies that buffer would hold the lines back.
  'x-accel-buffering': 'no',
}

/**
 * Lines as server-sent events. A client that comes back with `Last-Event-ID` misses none. `admit` is asked before each
 * batch, also an empty one: the stream ends for whoever may read it no more.
 */
export function logStream(
  request: Request,
  { follow, admit }: { readonly follow: Follow; readonly admit: () => Promise<unknown> },
): Response {
  // Elysia would read a body to its end, which never comes.
  if (request.method === 'HEAD') return new Response(null, { headers: HEADERS })
  const left = new AbortController()
  const batches = follow({
    after: lastEventId(request),
    signal: AbortSignal.any([request.signal, left.signal]),
  })
  const stop = async () => {
    left.abort()
    await batches.return()
  }
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode('retry: 2000\n\n'))
    },
    async pull(controller) {
      const { value, done } = await batches.next()
      if (!done && (await isAdmitted(admit))) {
        controller.enqueue(encoder.encode(eventsOf(value)))
        return
      }
      await stop()
      controller.close()
    },
    cancel: stop,
  })
  return new Response(stream, { headers: HEADERS })
}

async function isAdmitted(admit: () => Promise<unknown>): Promise<boolean> {
  try {
    await admit()
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** An empty batch is a comment, which keeps the connection open. JSON has no raw line breaks: one data line each. */
function eventsOf(batch: readonly LogRecord[]): string {
  if (batch.length === 0) return ': still here\n\n'
  return batch
    .map((line) => `id: ${line.logId}\nevent: log\ndata: ${JSON.stringify(line)}\n\n`)
    .join('')
}

function lastEventId(request: Request): string | undefined {
  const id = request.headers.get('last-event-id') ?? ''
  if (id === '') return undefined
  if (!/^\d{1,18}$/.test(id)) throw invalid('Last-Event-ID', 'is not the id of a log line')
  return id
}
