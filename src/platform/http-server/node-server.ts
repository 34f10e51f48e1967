import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { Server as TcpServer } from 'node:net'

import { listening } from '#platform/listening.ts'

import { closingConnection, waitUntilIdle } from './drain.ts'
import type { HttpServer, HttpServerSettings } from './http-server.ts'
import { sendResponse } from './node-response.ts'

/** A loop turn this short saw no burst of work: what had connected is accepted. */
const CALM_TURN_MS = 0.2
const CALM_TURNS_TRIED = 1000

/** Host and port; nothing that would make another URL of what follows. */
const HOST = /^[^/?#@\\\s,]+$/
const ABSOLUTE_FORM = /^https?:\/\/([^/?#@\\\s,]+)(?:[/?]|$)/i

/**
 * The requests that are being answered. Node passes an abort on to `request.signal` only while the request itself is
 * held, and who streams an answer holds no more than the signal.
 */
const held = new WeakMap<ServerResponse, Request>()

interface RequestTarget {
  readonly url: string
  readonly host: string
}

/** node:http behind the same contract, on Node and on Deno; listens before it resolves. */
export async function serveOnNode(settings: HttpServerSettings): Promise<HttpServer> {
  const server = new NodeHttpServer(settings)
  await server.listen()
  return server
}

class NodeHttpServer implements HttpServer {
  readonly hostname: string
  readonly #settings: HttpServerSettings
  readonly #server: Server
  #inFlight = 0
  #lastRequestAt = 0
  #draining: Promise<void> | undefined
  readonly #stopped = new AbortController()
  /** Set with the listener closed: a client that gets `Connection: close` sooner comes back on a new connection. */
  #lastAnswers = false

  constructor(settings: HttpServerSettings) {
    this.#settings = settings
    this.hostname = settings.hostname
    this.#server = createServer({
      keepAliveTimeout: settings.idleTimeoutSeconds * 1000,
      // A body may take as long as it keeps moving; how long it may be silent is bounded where it is read.
      requestTimeout: 0,
      headersTimeout: settings.idleTimeoutSeconds * 1000,
      connectionsCheckingInterval: settings.idleTimeoutSeconds * 500,
    })
    this.#server.on('request', (incoming, outgoing) => void this.#answer(incoming, outgoing))
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#settings.port
  }

  listen(): Promise<void> {
    const { port, hostname, onError } = this.#settings
    return listening(this.#server, (begun) => this.#server.listen(port, hostname, begun), onError)
  }

  drain(deadlineMs: number): Promise<void> {
    this.#draining ??= this.#drain(deadlineMs)
    return this.#draining
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.#inFlight++
    this.#lastRequestAt = performance.now()
    outgoing.once('close', () => this.#inFlight--)
    try {
      const response = await this.#respond(incoming, outgoing)
      await sendResponse(this.#lastAnswers ? closingConnection(response) : response, {
        incoming,
        outgoing,
        stopped: this.#stopped.signal,
      })
    } catch (error) {
      this.#settings.onError(error)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500).end()
    }
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const request = toRequest(incoming, outgoing, this.#settings.idleTimeoutSeconds * 1000)
    if (request === undefined) return closingConnection(new Response(null, { status: 400 }))
    const peer = {
      get address() {
        return incoming.socket.remoteAddress ?? ''
      },
    }
    return this.#settings.fetch(request, peer)
  }

  async #drain(deadlineMs: number): Promise<void> {
    await calmTurn()
    // Not `http.Server.close`, which also cuts idle connections and with them requests on their way.
    TcpServer.prototype.close.call(this.#server)
    this.#lastAnswers = true
    this.#stopped.abort()
    await waitUntilIdle(
      { inFlight: () => this.#inFlight, lastRequestAt: () => this.#lastRequestAt },
      deadlineMs,
    )
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** Resolves right after the loop has looked for new connections, at a moment when few can have come since. */
async function calmTurn(): Promise<void> {
  for (let turn = 0; turn < CALM_TURNS_TRIED; turn++) {
    const before = performance.now()
    await new Promise((resolve) => setImmediate(resolve))
    if (performance.now() - before < CALM_TURN_MS) return
  }
}

/** Undefined when method, host or target make no valid request. A body that is silent for longer than the timeout breaks off. */
function toRequest(
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
