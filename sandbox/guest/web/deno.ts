import { console } from './console.ts'
import { denoErrors } from './deno-errors.ts'
import { denoFiles } from './deno-files.ts'
import { notCapable, refusals } from './deno-refusals.ts'
import { EventTarget } from './event-target.ts'
import { host } from './host.ts'
import { denoInspect } from './inspect.ts'
import { defineOperation } from './interface.ts'
import { urlOfFile } from './paths.ts'
import {
  hasOwn,
  PromiseClass,
  toText,
  defineProperty,
  reflectGet,
  apply,
  endsWith,
  slice,
} from './primordials.ts'
import type { Request } from './request.ts'
import type { Response } from './response.ts'
import { decodeUtf8 } from './utf8.ts'
import { isWebIdlObject } from './webidl.ts'

/** What a function has; `read` and `net` only of its own files and of the hosts that its site may ask. */
const STATES: Readonly<Record<string, 'granted' | 'denied'>> = {
  read: 'granted',
  write: 'denied',
  net: 'granted',
  env: 'granted',
  sys: 'denied',
  run: 'denied',
  ffi: 'denied',
  import: 'denied',
}

const ADDRESS = { transport: 'tcp', hostname: '0.0.0.0', port: 8000 } as const

const log = console['info'] as (text: string) => void
const logError = console['error'] as (text: string) => void

/** It is at its end. */
const stdin: object = Object.freeze({
  read: (): Promise<null> => new PromiseClass((resolve) => resolve(null)),
  readSync: (): null => null,
  isTerminal: (): boolean => false,
  close: (): void => {},
})

type Handler = (request: Request, info: object) => Response | Promise<Response>

type Answer = globalThis.Response | Promise<globalThis.Response>

/** https://w3c.github.io/permissions/#permissionstatus-interface */
class PermissionStatus extends EventTarget {
  declare readonly state: string

  constructor(state: string) {
    super()
    defineProperty(this, 'state', { value: state, enumerable: true, configurable: true })
    defineProperty(this, 'onchange', {
      value: null,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
}

const statusOf = (descriptor: unknown): PermissionStatus => {
  const name =
    typeof descriptor === 'object' && descriptor !== null
      ? toText(reflectGet(descriptor, 'name'))
      : toText(descriptor)
  const state = Object.hasOwn(STATES, name) ? STATES[name] : undefined
  if (state === undefined)
    throw new TypeError(`The provided value "${name}" is not a valid permission name`)
  return new PermissionStatus(state)
}

const promised = (descriptor: unknown): Promise<PermissionStatus> =>
  new PromiseClass((resolve) => resolve(statusOf(descriptor)))

/** No permission is granted or revoked while a function runs: each method only returns the state. */
const permissions = Object.freeze({
  query: promised,
  querySync: statusOf,
  request: promised,
  requestSync: statusOf,
  revoke: promised,
  revokeSync: statusOf,
})

const env = {
  get: (name: string): string | undefined =>
    hasOwn(host.env, `${name}`) ? host.env[`${name}`] : undefined,
  toObject: (): Record<string, string> => ({ ...host.env }),
  set: (name: string): never => {
    throw notCapable('env', name)
  },
  has: (name: string): boolean => hasOwn(host.env, `${name}`),
  delete: (name: string): never => {
    throw notCapable('env', name)
  },
}

/** Starting it is what is refused, as in Deno. */
class Command {
  readonly #file: string

  constructor(command: unknown) {
    this.#file = toText(command)
  }

  spawn(): never {
    throw notCapable('run', this.#file)
  }

  outputSync(): never {
    throw notCapable('run', this.#file)
  }

  output(): Promise<never> {
    return new PromiseClass((_resolve, reject) => reject(notCapable('run', this.#file)))
  }
}

const nothing = (): void => {}

/**
 * The part of Deno that a function has. What needs a permission that it does not have is there and refuses by name, as
 * `deno run` does; what Deno itself does not have is undefined.
 */
export const Deno: object = {
  ...refusals(),
  ...denoFiles,
  args: Object.freeze([]),
  build: Object.freeze({
    target: 'x86_64-unknown-linux-gnu',
    arch: 'x86_64',
    os: 'linux',
    vendor: 'unknown',
    env: 'gnu',
    standalone: false,
  }),
  env: Object.freeze(env),
  errors: Object.freeze(denoErrors),
  inspect: defineOperation('inspect', 1, denoInspect),
  noColor: true,
  permissions,
  PermissionStatus,
  pid: 1,
  ppid: 0,
  serve: defineOperation('serve', 1, denoServe),
  stderr: outputOf('error'),
  stdin,
  stdout: outputOf('info'),
  version: Object.freeze({ deno: '2.9.6', v8: '13.6.233', typescript: '6.0.3' }),
  Command,
  exit: defineOperation('exit', 1, (code: unknown = 0): never => {
    throw notCapable('run', `exit(${toText(code)})`)
  }),
  get mainModule(): string {
    return urlOfFile(host.entry)
  },
  // A function receives no signals, and its timers keep nothing alive.
  addSignalListener: defineOperation('addSignalListener', 2, nothing),
  removeSignalListener: defineOperation('removeSignalListener', 2, nothing),
  refTimer: defineOperation('refTimer', 1, nothing),
  unrefTimer: defineOperation('unrefTimer', 1, nothing),
  // As under `deno run`, where tests and benchmarks that a module has are not run.
  test: defineOperation('test', 1, nothing),
  bench: defineOperation('bench', 1, nothing),
}

/**
 * `Deno.serve(handler)`, `Deno.serve(options, handler)` and `Deno.serve({ handler })` or `({ fetch })`: the handler
 * answers the calls of this function. There is no port, so what says where to listen is ignored.
 */
function denoServe(first: unknown, second?: unknown): object {
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

/** `Deno.stdout` and `Deno.stderr`: what is written at once is one entry of the log. */
function outputOf(level: 'info' | 'error'): object {
  const print = level === 'info' ? log : logError
  const writeSync = (bytes: Uint8Array): number => {
    const text = decodeUtf8(bytes)
    print(endsWith(text, '\n') ? slice(text, 0, -1) : text)
    return bytes.byteLength
  }
  return Object.freeze({
    write: (bytes: Uint8Array): Promise<number> =>
      new PromiseClass((resolve) => resolve(writeSync(bytes))),
    writeSync,
    isTerminal: (): boolean => false,
    close: (): void => {},
  })
}
