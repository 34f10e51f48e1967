import { limitStream, contentLengthRefusal, tooLarge } from './body-limit.ts'
import { closeListener } from './close-listener.ts'
import { closingConnection, waitUntilIdle } from './drain.ts'
import type { HttpServer, HttpServerSettings } from './http-server.ts'

/** How long clients are told to close their connections where the listener cannot be closed alone. */
const FAREWELL_MS = 300

/** The part of Deno's API that is used here; its types are not installed. */
interface DenoApi {
  serve(
    options: {
      hostname: string
      port: number
      onListen: () => void
      onError: (error: unknown) => Response
    },
    handler: (request: Request, info: DenoInfo) => Promise<Response>,
  ): DenoServer
}

interface DenoInfo {
  readonly remoteAddr: { readonly hostname?: string }
  readonly completed: Promise<void>
}

interface DenoServer {
  readonly addr: { readonly port: number }
  shutdown(): Promise<void>
}

declare const Deno: DenoApi

export function serveOnDeno(settings: HttpServerSettings): HttpServer {
  return new DenoHttpServer(settings)
}

class DenoHttpServer implements HttpServer {
  readonly hostname: string
  readonly port: number
  readonly #settings: HttpServerSettings
  readonly #server: DenoServer
  #inFlight = 0
  #lastRequestAt = 0
  #draining: Promise<void> | undefined

  constructor(settings: HttpServerSettings) {
    this.#settings = settings
    this.#server = Deno.serve(
      {
        hostname: settings.hostname,
        port: settings.port,
        onListen: () => {},
        onError: (error) => this.#failed(error),
      },
      (request, info) => this.#answer(request, info),
    )
    this.hostname = settings.hostname
    this.port = this.#server.addr.port
  }

  drain(deadlineMs: number): Promise<void> {
    this.#draining ??= this.#drain(deadlineMs)
    return this.#draining
  }

  async #answer(request: Request, info: DenoInfo): Promise<Response> {
    this.#inFlight++
    void this.#count(info)
    this.#lastRequestAt = performance.now()
    let response: Response
    try {
      response = await this.#limited(request, info)
    } catch (error) {
      response = this.#failed(error)
    }
    return this.#draining === undefined ? response : closingConnection(response)
  }

  async #count({ completed }: DenoInfo): Promise<void> {
    await Promise.allSettled([completed])
    this.#inFlight--
  }

  async #limited(request: Request, info: DenoInfo): Promise<Response> {
    const { maxRequestBodyBytes: maxBytes, fetch } = this.#settings
    const peer = {
      get address() {
        return info.remoteAddr.hostname ?? ''
      },
    }
    const length = request.headers.get('content-length')
    const refused = contentLengthRefusal(length, maxBytes)
    if (refused) return refused
    if (length !== null || request.body === null) return fetch(request, peer)
    let exceeded = false
    const body = limitStream(request.body, maxBytes, () => (exceeded = true))
    const init: RequestInit = { body, duplex: 'half' }
    try {
      const response = await fetch(new Request(request, init), peer)
      return exceeded ? tooLarge() : response
    } catch (error) {
      if (exceeded) return tooLarge()
      throw error
    }
  }

  #failed(error: unknown): Response {
    this.#settings.onError(error)
    return new Response(null, { status: 500 })
  }

  async #drain(deadlineMs: number): Promise<void> {
    const startedAt = performance.now()
    const patienceMs = closeListener(this.port) ? deadlineMs : Math.min(FAREWELL_MS, deadlineMs)
    await waitUntilIdle(
      { inFlight: () => this.#inFlight, lastRequestAt: () => this.#lastRequestAt },
      patienceMs,
    )
    const timer = Promise.withResolvers<void>()
    const timeout = setTimeout(timer.resolve, deadlineMs - (performance.now() - startedAt))
    await Promise.race([this.#server.shutdown(), timer.promise])
    clearTimeout(timeout)
  }
}
