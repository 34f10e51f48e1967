import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { Server as TcpServer } from 'node:net'

import { listening } from '#platform/listening.ts'

import { closingConnection, waitUntilIdle } from './drain.ts'
import type { HttpServer, HttpServerSettings } from './http-server.ts'
import { toRequest } from './node-request.ts'
import { sendResponse } from './node-response.ts'

/** A loop turn this short saw no burst of work: what had connected is accepted. */
const CALM_TURN_MS = 0.2
const CALM_TURNS_TRIED = 1000

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
  /** Set with the listener closed: who is told to close sooner comes back on a new connection. */
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
