import { bodyText } from '#http/bodies/body-text.ts'
import { GRACE_MS, bodyStalled } from '#http/bodies/request-body-budgets.ts'
import type { RequestScope } from '#http/request-scope.ts'
import type { Peer } from '#platform/http-server/http-server.ts'
import type { CallAuthority } from '#platform/sandbox-host/call.ts'
import type { OperationAnswer, OperationCalls } from '#runtime/calls/operation-calls.ts'
import type { Reply } from '#runtime/calls/reply.ts'
import { NO_PAYLOAD } from '#runtime/calls/request-body.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

/** A call that takes longer tells the server that its connection is silent on purpose. */
const HELD_AFTER_MS = 5000

/** How answers read that did not come through a route. */
export interface FastPathResponses {
  toResponse(answer: OperationAnswer, fast: FastPathRequest): Response
  toErrorResponse(error: unknown, fast: FastPathRequest): Response
}

/** A request, and what the server and the transport know of it. */
export interface FastPathRequest {
  readonly request: Request
  readonly scope: RequestScope
  readonly peer: Peer
  /** The headers that let the origin of a page read the response; undefined without such an origin. */
  readonly cors: Readonly<Record<string, string>> | undefined
}

/** What is known of a call before its body is read. */
export interface IncomingCall {
  readonly site: SiteEntry
  readonly operation: string
  readonly authority: CallAuthority
  readonly operationCalls: Pick<OperationCalls, 'begin'>
}

/**
 * One visitor's call from its request to its response. It makes three promises, each of which costs more than a look-up in
 * memory: the response, the text of the body, and what follows from that.
 */
export class FastPathCall implements Reply<OperationAnswer> {
  readonly #fast: FastPathRequest
  readonly #incoming: IncomingCall
  readonly #responses: FastPathResponses
  #open: Set<FastPathCall> | undefined
  #respond: ((response: Response) => void) | undefined
  #isReading = true
  #isHeld = false

  constructor(fast: FastPathRequest, incoming: IncomingCall, responses: FastPathResponses) {
    this.#fast = fast
    this.#incoming = incoming
    this.#responses = responses
  }

  /** Reads the body, and answers. Is in `open` until then. */
  read(open: Set<FastPathCall>): Promise<Response> {
    this.#open = open
    open.add(this)
    const response = new Promise<Response>((respond) => (this.#respond = respond))
    this.#fast.request.arrayBuffer().then(
      (bytes) => this.#run(bytes),
      (error: unknown) => this.failed(error),
    )
    return response
  }

  /** A short body is not seen arriving, and has little time for it. */
  look(now: number): void {
    const { scope, peer } = this.#fast
    const openMs = now - scope.startedAt
    if (this.#isReading) {
      if (openMs > GRACE_MS) this.failed(bodyStalled())
    } else if (openMs > HELD_AFTER_MS && !this.#isHeld) {
      this.#isHeld = true
      peer.hold?.()
    }
  }

  answered(answer: OperationAnswer): void {
    this.#end(this.#responses.toResponse(answer, this.#fast))
  }

  failed(error: unknown): void {
    this.#end(this.#responses.toErrorResponse(error, this.#fast))
  }

  #run(bytes: ArrayBuffer): void {
    this.#isReading = false
    // It stalled, and was answered.
    if (this.#respond === undefined) return
    let text: string
    try {
      text = bodyText(bytes)
    } catch (error) {
      return this.failed(error)
    }
    const { request, scope } = this.#fast
    const { site, operation, authority, operationCalls } = this.#incoming
    operationCalls.begin(
      {
        site,
        operation,
        requestId: scope.requestId,
        authority,
        depth: 0,
        address: authority === null ? scope.peerAddress : undefined,
        signal: undefined,
        visitorSignal: () => request.signal,
        body: text || NO_PAYLOAD,
      },
      this,
    )
  }

  #end(response: Response): void {
    const respond = this.#respond
    if (respond === undefined) return
    this.#respond = undefined
    this.#open?.delete(this)
    const { peer } = this.#fast
    respond(peer.sent === undefined ? response : peer.sent(response))
  }
}
