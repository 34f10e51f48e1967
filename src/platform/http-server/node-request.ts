import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The requests that are being answered. Node passes an abort on to `request.signal` only while the request itself is
 * held, and who streams an answer holds no more than the signal.
 */
const held = new WeakMap<ServerResponse, Request>()

/** Undefined when method, host or target make no valid request. A body that is silent for longer than the timeout breaks off. */
export function toRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  idleTimeoutMs: number,
): Request | undefined {
  const url = targetUrl(incoming)
  if (url === undefined) return undefined
  const method = incoming.method ?? 'GET'
  const abort = new AbortController()
  const init: RequestInit = { method, headers: headersOf(incoming), signal: abort.signal }
  if (method !== 'GET' && method !== 'HEAD' && hasBody(incoming)) {
    init.body = bodyOf(incoming, idleTimeoutMs)
    init.duplex = 'half'
  }
  try {
    const request = new Request(url, init)
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) abort.abort(new Error('The client closed the connection'))
      held.delete(outgoing)
    })
    held.set(outgoing, request)
    return request
  } catch {
    // TRACE, CONNECT and the like, which fetch does not allow.
    return undefined
  }
}

function targetUrl(incoming: IncomingMessage): string | undefined {
  const target = incoming.url ?? '/'
  const host = incoming.headers.host ?? 'localhost'
  if (/[/?#@\\\s]/.test(host)) return undefined
  const url = target.startsWith('/') ? `http://${host}${target}` : target
  return /^https?:/.test(url) && URL.canParse(url) ? url : undefined
}

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers()
  const raw = incoming.rawHeaders
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.append(raw[index] ?? '', raw[index + 1] ?? '')
  }
  return headers
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Pulls from the socket only as fast as the reader reads. */
function bodyOf(incoming: IncomingMessage, idleTimeoutMs: number): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = incoming.iterator({ destroyOnReturn: false })
  const silent = () => incoming.destroy(new Error('The request body stopped arriving'))
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const timer = setTimeout(silent, idleTimeoutMs)
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(new Uint8Array(value))
        } finally {
          clearTimeout(timer)
        }
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
