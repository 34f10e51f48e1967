import { listenError } from '#platform/listen-error.ts'

/** Who sent the request; read lazily, because asking the runtime costs more than most requests. */
export interface Peer {
  /** The address of the connection's other end, without port; empty when the connection is gone. */
  readonly address: string
  /**
   * What a server minds for each request takes longer than some answers do. An application that calls this, before it gives
   * its promise, minds it by itself: it reads the whole body, calls `hold` where it is still at it after ten seconds, gives a
   * short text, and passes it through `sent`. A server without it minds everything.
   */
  takeOver?(): void
  /** From now on the connection may be silent, however long. */
  hold?(): void
  /** The answer as it goes out. */
  sent?(response: Response): Response
}

export interface HttpServerOptions {
  /**
   * What it throws becomes a bare 500: the application renders its own errors, and bounds the bodies that it reads. A refusal that
   * comes before the end of a body is sent at once; the rest of the body is read and thrown away within `DISCARD_LIMITS`.
   */
  readonly fetch: (request: Request, peer: Peer) => Response | Promise<Response>
  readonly hostname: string
  /** 0 for any free port. */
  readonly port: number
  /**
   * The names of the settings that say where it listens, for the message that asks to change them; `HOST` and `PORT` when left
   * out.
   */
  readonly settings?: { readonly host: string; readonly port: string }
  /** How long a connection may be silent between requests, or in the middle of one. At most 255; default 60. Never ends a response that is being made or streamed. An application that takes requests over needs 30 or more. */
  readonly idleTimeoutSeconds?: number
  /** Receives what `fetch` threw, and errors of the listening socket; open connections go on after those. */
  readonly onError?: (error: unknown) => void
}

export interface HttpServer {
  readonly hostname: string
  readonly port: number
  /**
   * Stops accepting connections and answers everything that arrives on those that are open, telling each to close.
   * Resolves when they have fallen silent, or at the deadline, which cuts what is still open. Calling again joins the first call.
   */
  drain(deadlineMs: number): Promise<void>
}

/** The options with every default filled in. */
export type HttpServerSettings = Required<Omit<HttpServerOptions, 'settings'>>

/** Listens on whichever runtime this is. Rejects with a `SetupError` when the address cannot be had. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const settings: HttpServerSettings = {
    fetch: options.fetch,
    hostname: options.hostname,
    port: options.port,
    idleTimeoutSeconds: Math.min(options.idleTimeoutSeconds ?? 60, 255),
    onError: options.onError ?? (() => {}),
  }
  try {
    return await listenHere(settings)
  } catch (error) {
    const { hostname, port, settings: names = { host: 'HOST', port: 'PORT' } } = options
    throw listenError(error, { hostname, port, settings: names })
  }
}

async function listenHere(settings: HttpServerSettings): Promise<HttpServer> {
  if ('Bun' in globalThis) return (await import('./bun-server.ts')).serveOnBun(settings)
  return (await import('./node-server.ts')).serveOnNode(settings)
}
