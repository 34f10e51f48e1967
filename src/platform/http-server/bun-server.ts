import type * as BunFfi from 'bun:ffi'
import { createRequire } from 'node:module'

import { closingConnection, waitUntilIdle } from './drain.ts'
import type { HttpServer, Peer, HttpServerSettings } from './http-server.ts'
import { type BodyRest, discardRest, isSkipped } from './unread-body.ts'

const MAX_FD = 4096
const AF_INET = 2
const SOCK_STREAM = 1

/** SOL_SOCKET and SO_ACCEPTCONN, which the systems number differently. */
const ACCEPTS: readonly [level: number, option: number] =
  process.platform === 'darwin' ? [0xff_ff, 2] : [1, 30]

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`],
  darwin: ['libSystem.B.dylib'],
}

type BunServer = Bun.Server<undefined>

/** The longest that Bun takes: in seconds. */
const LONGEST_TIMEOUT = 255
const RENEW_MS = 60_000

/** A request whose body stopped arriving is released after this long: longer than any operation may take. */
const STALLED_AFTER_MS = 20 * 60_000

type Libc = ReturnType<typeof openLibc>

/** Bun.serve, whose per-request cost is all that this adds to: a peer object, a timeout and a branch. */
export function serveOnBun(settings: HttpServerSettings): HttpServer {
  return new BunHttpServer(settings)
}

class BunHttpServer implements HttpServer {
  readonly hostname: string
  readonly port: number
  readonly #settings: HttpServerSettings
  readonly #server: BunServer
  /** Requests with a body that wait for their answer, and since when. */
  readonly #waiting = new Map<Request, number>()
  readonly #renewal: ReturnType<typeof setInterval>
  #draining: Promise<void> | undefined
  #lastRequestAt = 0
  readonly #stopped = new AbortController()
  readonly #passOn = (response: Response): Response => this.#sent(response)

  constructor(settings: HttpServerSettings) {
    this.#settings = settings
    this.#server = Bun.serve({
      hostname: settings.hostname,
      port: settings.port,
      // Its own refusal is lost on who is still sending; the application bounds what it reads.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: settings.idleTimeoutSeconds,
      fetch: (request: Request, server: BunServer) => this.#answer(request, server),
      error: (error: unknown) => this.#failed(error),
    })
    this.hostname = settings.hostname
    this.port = this.#server.port ?? settings.port
    this.#renewal = setInterval(() => this.#renewTimeouts(), RENEW_MS)
    this.#renewal.unref()
  }

  drain(deadlineMs: number): Promise<void> {
    this.#draining ??= this.#drain(deadlineMs)
    return this.#draining
  }

  #answer(request: Request, server: BunServer): Response | Promise<Response> {
    if (isMisaddressed(request)) return closingConnection(new Response(null, { status: 400 }))
    const peer = new BunPeer(server, request, this.#passOn)
    const response = this.#settings.fetch(request, peer)
    return peer.isTakenOver ? response : this.#minded(request, response)
  }

  #minded(request: Request, response: Response | Promise<Response>): Response | Promise<Response> {
    const { method } = request
    const server = this.#server
    // Bun counts the time in which a handler thinks as silence, and would cut the connection.
    const bodied = method !== 'GET' && method !== 'HEAD'
    if (bodied) server.timeout(request, LONGEST_TIMEOUT)
    // What is answered at once has not thought.
    if (!bodied && response instanceof Promise) server.timeout(request, 0)
    if (!(response instanceof Promise)) return this.#sent(this.#whole(request, response))
    return bodied ? this.#whenMade(request, response) : this.#whenSent(response)
  }

  async #whenSent(response: Promise<Response>): Promise<Response> {
    return this.#sent(await response)
  }

  async #whenMade(request: Request, response: Promise<Response>): Promise<Response> {
    this.#waiting.set(request, performance.now())
    try {
      const made = this.#whole(request, await response)
      // The answer may be a stream with long silences.
      this.#server.timeout(request, 0)
      return this.#sent(made)
    } finally {
      this.#waiting.delete(request)
    }
  }

  /** The response, which ends when what is left of the body has been received. */
  #whole(request: Request, response: Response): Response {
    const rest = response.status < 400 ? undefined : unreadBody(request, response)
    return rest === undefined
      ? response
      : endingLater(response, () => discardRest(rest, this.#stopped.signal))
  }

  #sent(response: Response): Response {
    if (this.#draining === undefined) return response
    this.#lastRequestAt = performance.now()
    return closingConnection(response)
  }

  #failed(error: unknown): Response {
    this.#settings.onError(error)
    const response = new Response(null, { status: 500 })
    return this.#draining === undefined ? response : closingConnection(response)
  }

  /** While a body is read the idle timeout must run, while an operation thinks it must not: it is renewed until it has thought too long. */
  #renewTimeouts(): void {
    const stalledSince = performance.now() - STALLED_AFTER_MS
    for (const [request, since] of this.#waiting) {
      if (since > stalledSince) this.#server.timeout(request, LONGEST_TIMEOUT)
    }
  }

  async #drain(deadlineMs: number): Promise<void> {
    closeListener(this.port)
    this.#stopped.abort()
    const quiet = await waitUntilIdle(
      { inFlight: () => this.#server.pendingRequests, lastRequestAt: () => this.#lastRequestAt },
      deadlineMs,
    )
    clearInterval(this.#renewal)
    await this.#server.stop(!quiet)
  }
}

/**
 * Whether it names no host, or several (RFC 9112, section 3.2). Of a target in absolute form Bun hands on the path alone, so that
 * here `Host` decides, which every client sends in the same form.
 */
const isMisaddressed = ({ url, headers }: Request): boolean =>
  url.startsWith('/') || headers.get('host')?.includes(',') === true

class BunPeer implements Peer {
  isTakenOver = false
  readonly sent: (response: Response) => Response
  readonly #server: BunServer
  readonly #request: Request

  constructor(server: BunServer, request: Request, sent: (response: Response) => Response) {
    this.#server = server
    this.#request = request
    this.sent = sent
  }

  takeOver(): void {
    this.isTakenOver = true
  }

  hold(): void {
    this.#server.timeout(this.#request, 0)
  }

  get address(): string {
    return this.#server.requestIP(this.#request)?.address ?? ''
  }
}

/** What the application left of the body; undefined where that is nothing, or so little that the runtime skips it. */
function unreadBody(request: Request, response: Response): BodyRest | undefined {
  const closes = response.headers.get('connection') === 'close'
  if (!closes && (request.bodyUsed || isSkipped(request.headers.get('content-length')))) return
  const { body } = request
  if (body === null || body.locked) return
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value?.byteLength,
    release: () => void reader.cancel().catch(() => {}),
  }
}

/** The same response, sent at once except for its end, which waits and then closes the connection. */
function endingLater(response: Response, ending: () => Promise<void>): Response {
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  headers.set('connection', 'close')
  const sent = response.body?.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = (await sent?.read()) ?? {}
        if (value !== undefined) return controller.enqueue(value)
        await ending()
        controller.close()
      },
      cancel: async () => sent?.cancel(),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status, statusText, headers })
}

/**
 * Closes the listening socket under a running server and leaves its connections alone, which Bun does not offer: its
 * own stop cuts every connection that is idle at that instant, and with it the requests on their way. An unused socket takes
 * the place of the descriptor; the runtime closes that one later. Does nothing where the system does not allow it.
 */
function closeListener(port: number): void {
  try {
    const libc = openLibc()
    const listener = listenerOf(port, libc)
    if (listener === undefined) return
    const unused = libc.socket(AF_INET, SOCK_STREAM, 0)
    if (unused < 0) return
    libc.dup2(unused, listener)
    libc.close(unused)
  } catch {
    // Windows, or no permission for foreign functions: the caller drains without this.
  }
}

function listenerOf(port: number, libc: Libc): number | undefined {
  const flag = new Int32Array(1)
  const length = new Int32Array(1)
  const address = new Uint8Array(128)
  for (let fd = 3; fd < MAX_FD; fd++) {
    length[0] = flag.byteLength
    if (libc.getsockopt(fd, ...ACCEPTS, flag, length) !== 0 || flag[0] === 0) continue
    length[0] = address.byteLength
    if (libc.getsockname(fd, address, length) !== 0) continue
    // The port, in network order, follows the two bytes of the family in both IPv4 and IPv6.
    if (new DataView(address.buffer).getUint16(2) === port) return fd
  }
  return undefined
}

/** Bun's foreign functions. Throws where they may not be used, or no libc is known by these names. */
function openLibc() {
  const { dlopen }: typeof BunFfi = createRequire(import.meta.url)('bun:ffi')
  const faults: unknown[] = []
  for (const name of LIBRARIES[process.platform] ?? []) {
    try {
      return dlopen(name, SYMBOLS).symbols
    } catch (error) {
      faults.push(error)
    }
  }
  throw new AggregateError(faults, 'No libc could be opened')
}

/** The system calls that `closeListener` needs; negative is failure. */
const SYMBOLS = {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  dup2: { args: ['i32', 'i32'], returns: 'i32' },
  close: { args: ['i32'], returns: 'i32' },
  getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
  getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
} as const
