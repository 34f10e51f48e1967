import {
  type AbortSignal,
  abortSignal,
  abortState,
  createSignal,
} from '#sandbox/guest/web/abort-signal.ts'
import { DOMException } from '#sandbox/guest/web/dom-exception.ts'
import { apply } from '#sandbox/guest/web/primordials.ts'

import type { CallContext } from './call-context.ts'
import { type IncomingRequest, servedRequest } from './http-request.ts'
import { ResponseSender } from './http-response.ts'
import { runInCall } from './live-calls.ts'
import type { Target } from './modules.ts'
import { SafeMap } from './safe-map.ts'

interface Exchange {
  /** What `request.signal` follows. */
  readonly gone: AbortSignal
  readonly sender: ResponseSender
}

/** Those of the calls that answer HTTP and are open. */
const exchanges = new SafeMap<Exchange>()

interface ServedCall {
  readonly id: number
  readonly incoming: IncomingRequest
  readonly target: Extract<Target, { kind: 'fetch' }>
  readonly context: CallContext
}

/** Hands the request to `fetch` and its response to the service; gives the text of the call's result. */
export async function serveHttp({ id, incoming, target, context }: ServedCall): Promise<string> {
  const gone = createSignal()
  const follows = abortState(gone)
  const sender = new ResponseSender(id, follows)
  exchanges.set(id, { gone, sender })
  try {
    const handle = target.handle as (request: object, context: object) => unknown
    const request = servedRequest(id, incoming, follows)
    return await sender.send(await apply(handle, target.owner, [request, context]), incoming.method)
  } finally {
    exchanges.delete(id)
  }
}

/** The client has disconnected, or the call is over: fires the abort listeners and stops streaming. */
export function abortExchange(id: number): void {
  const exchange = exchanges.get(id)
  if (!exchange) return
  const { gone, sender } = exchange
  const reason = new DOMException('The client has closed the connection', 'AbortError')
  runInCall(id, () => {
    abortSignal(gone, reason)
    sender.cancel(reason)
  })
}
