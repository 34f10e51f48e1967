import type { IncomingMessage, ServerResponse } from 'node:http'

/** Host and port; nothing that would make another URL of what follows. */
const HOST = /^[^/?#@\\\s,]+$/
const ABSOLUTE_FORM = /^https?:\/\/([^/?#@\\\s,]+)(?:[/?]|$)/i

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
  const target = targetOf(incoming)
  if (target === undefined) return undefined
  const method = incoming.method ?? 'GET'
  const abort = new AbortController()
  const init: RequestInit = {
    method,
    headers: headersOf(incoming, target.host),
    signal: abort.signal,
  }
  if (method !== 'GET' && method !== 'HEAD' && hasBody(incoming)) {
    init.body = bodyOf(incoming, idleTimeoutMs)
    init.duplex = 'half'
  }
  try {
    const request = new Request(target.url, init)
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

interface RequestTarget {
  readonly url: string
  readonly host: string
}

/** A target in absolute form says itself which host is meant, and `Host` is not looked at (RFC 9112, section 3.2.2). */
function targetOf({
  url: target = '/',
  headersDistinct,
}: IncomingMessage): RequestTarget | undefined {
  const [named = 'localhost', ...others] = headersDistinct['host'] ?? []
  if (others.length > 0 || !HOST.test(named)) return undefined
  const { url, host } = target.startsWith('/')
    ? { url: `http://${named}${target}`, host: named }
    : { url: target, host: ABSOLUTE_FORM.exec(target)?.[1] }
  return host !== undefined && URL.canParse(url) ? { url, host } : undefined
}

function headersOf(incoming: IncomingMessage, host: string): Headers {
  const headers = new Headers()
  const raw = incoming.rawHeaders
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.append(raw[index] ?? '', raw[index + 1] ?? '')
  }
  headers.set('host', host)
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
