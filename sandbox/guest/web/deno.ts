import { host } from './host.ts'
import { defineOperation } from './interface.ts'
import { apply, hasOwn } from './primordials.ts'
import type { Request } from './request.ts'
import type { Response } from './response.ts'
import { isWebIdlObject } from './webidl.ts'

type Handler = (request: Request, info: object) => Response | Promise<Response>
type Answer = globalThis.Response | Promise<globalThis.Response>

const ADDRESS = { transport: 'tcp', hostname: '0.0.0.0', port: 0 } as const

const READ_ONLY =
  'The environment is read-only here: set the variable in the site configuration instead.'

const env = {
  get: (name: string): string | undefined =>
    hasOwn(host.env, `${name}`) ? host.env[`${name}`] : undefined,
  has: (name: string): boolean => hasOwn(host.env, `${name}`),
  toObject: (): Record<string, string> => ({ ...host.env }),
  set: (): never => {
    throw new TypeError(READ_ONLY)
  },
  delete: (): never => {
    throw new TypeError(READ_ONLY)
  },
}

const present = Object.freeze({
  env: Object.freeze(env),
  args: Object.freeze([]),
  build: Object.freeze({
    target: 'unknown-unknown-linux-gnu',
    arch: 'unknown',
    os: 'linux',
    vendor: 'croft',
    standalone: false,
  }),
  noColor: true,
  serve: defineOperation('serve', 1, denoServe),
  version: Object.freeze({ deno: '0.0.0', v8: '0.0.0', typescript: '0.0.0' }),
})

/** The part of Deno that site code may use. Anything else says that it is not there when it is read. */
export const Deno: object = new Proxy(present, {
  get(target, key): unknown {
    if (key in target || typeof key === 'symbol' || key === 'then') return Reflect.get(target, key)
    throw new Error(
      `Deno.${key} is not available here: there are Deno.${Object.keys(target).join(', Deno.')}.`,
    )
  },
})

/**
 * `Deno.serve(handler)`, `Deno.serve(options, handler)` and `Deno.serve({ handler })` or `({ fetch })`: the handler
 * answers the calls of this function. There is no port, so what says where to listen is ignored.
 */
function denoServe(first: unknown, second?: unknown): object {
  const options = isWebIdlObject(first) ? (first as Readonly<Record<string, unknown>>) : {}
  const handler =
    second ?? (typeof first === 'function' ? first : (options['handler'] ?? options['fetch']))
  if (typeof handler !== 'function')
    throw new TypeError(
      'Deno.serve takes a handler: Deno.serve((request) => new Response("hello"))',
    )
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

async function orElse(answer: () => unknown, onError: Function): Promise<unknown> {
  try {
    return await answer()
  } catch (error) {
    return await apply(onError, undefined, [error])
  }
}
