import { host } from './host.ts'
import { apply } from './primordials.ts'
import type { Request } from './request.ts'
import type { Response } from './response.ts'
import { isWebIdlObject } from './webidl.ts'

type Handler = (request: Request, info: object) => Response | Promise<Response>
type Answer = globalThis.Response | Promise<globalThis.Response>

const ADDRESS = { transport: 'tcp', hostname: '0.0.0.0', port: 8000 } as const

/**
 * `Deno.serve(handler)`, `Deno.serve(options, handler)` and `Deno.serve({ handler })` or `({ fetch })`: the handler
 * answers the calls of this function. There is no port, so what says where to listen is ignored.
 */
export function denoServe(first: unknown, second?: unknown): object {
  const options = isWebIdlObject(first) ? (first as Readonly<Record<string, unknown>>) : {}
  const handler =
    second ?? (typeof first === 'function' ? first : (options['handler'] ?? options['fetch']))
  if (typeof handler !== 'function') throw new TypeError(handlerFault(first, handler))
  if (host.serve !== null)
    throw new Error('Deno.serve was called already: a function has one handler.')
  const onError = options['onError']
  const owner = handler === options['fetch'] ? options : undefined
  const finished = Promise.withResolvers<void>()
  const answer = (request: unknown) =>
    apply(handler as Handler, owner, [
      request,
      { remoteAddr: ADDRESS, completed: finished.promise },
    ])
  host.serve = (request) =>
    (typeof onError === 'function'
      ? orElse(() => answer(request), onError)
      : answer(request)) as Answer
  const { onListen } = options
  if (typeof onListen === 'function') apply(onListen, undefined, [ADDRESS])
  const shutdown = async (): Promise<void> => {
    host.serve = null
    finished.resolve()
  }
  return {
    addr: ADDRESS,
    finished: finished.promise,
    ref() {},
    unref() {},
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  }
}

const handlerFault = (first: unknown, handler: unknown): string =>
  first === undefined
    ? 'Cannot serve HTTP requests: either a `handler` or `options` must be specified'
    : `Cannot serve HTTP requests: handler must be a function, received ${typeof handler}`

async function orElse(answer: () => unknown, onError: Function): Promise<unknown> {
  try {
    return await answer()
  } catch (error) {
    return await apply(onError, undefined, [error])
  }
}
