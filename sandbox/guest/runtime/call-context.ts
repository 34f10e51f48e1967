import {
  apply,
  defineProperty,
  deleteProperty,
  freeze,
  indexOf,
  jsonParse,
  jsonStringify,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'

import { configured } from './config.ts'
import { GuestBucket } from './guest-bucket.ts'
import { GuestTable } from './guest-table.ts'
import { callHostFor } from './host-calls.ts'
import { runInCall } from './live-calls.ts'
import { type SendEmail, sendEmailOf } from './send-email.ts'
import { type WaitUntil, waitUntilOf } from './wait-until.ts'

type Print = (...args: unknown[]) => void
type CallOperation = (name: unknown, payload?: unknown) => Promise<unknown>

// oxlint-disable-next-line typescript/unbound-method -- console methods do not use their receiver
const { debug, info, warn, error } = globalThis.console

export interface Log extends Print {
  debug: Print
  info: Print
  warn: Print
  error: Print
}

/** What a call is about. */
export interface CallSubject {
  /** JSON text. */
  readonly auth: string
  readonly requestId: string
  readonly basePath: string
}

/**
 * What a handler is given beside its input. Everything done through it belongs to its call: lines are counted on it, and
 * questions to the host are asked with its rights. Made when first used; functions, so that it can be destructured.
 */
export class CallContext {
  readonly #call: number
  readonly #subject: CallSubject
  #auth: unknown
  #waitUntil: WaitUntil | undefined
  #log: Log | undefined
  #operation: CallOperation | undefined
  #sendEmail: SendEmail | undefined
  #table: ((name: unknown) => GuestTable) | undefined
  #bucket: ((name: unknown) => GuestBucket) | undefined

  constructor(call: number, subject: CallSubject) {
    this.#call = call
    this.#subject = subject
  }

  /** The visitor who calls; null for a stranger and for the site itself. */
  get auth(): unknown {
    this.#auth ??= jsonParse(this.#subject.auth)
    return this.#auth
  }

  get requestId(): string {
    return this.#subject.requestId
  }

  /** The path of the operation: `/data/shop`, or `/data/public/shop`. */
  get basePath(): string {
    return this.#subject.basePath
  }

  get waitUntil(): WaitUntil {
    this.#waitUntil ??= waitUntilOf(this.#call)
    return this.#waitUntil
  }

  get env(): Readonly<Record<string, string>> {
    return configured().env
  }

  get log(): Log {
    this.#log ??= logOf(this.#call)
    return this.#log
  }

  get table(): (name: unknown) => GuestTable {
    const call = this.#call
    this.#table ??= (name) => new GuestTable(call, named(name, 'ctx.table(name)'))
    return this.#table
  }

  get bucket(): (name: unknown) => GuestBucket {
    const call = this.#call
    this.#bucket ??= (name) => new GuestBucket(call, named(name, 'ctx.bucket(name)'))
    return this.#bucket
  }

  get sendEmail(): SendEmail {
    this.#sendEmail ??= sendEmailOf(this.#call)
    return this.#sendEmail
  }

  get operation(): CallOperation {
    this.#operation ??= operationOf(this.#call)
    return this.#operation
  }
}

// Whoever makes a context names the call whose rights it has.
deleteProperty(CallContext.prototype, 'constructor')
freeze(CallContext.prototype)

/** The payload stays text until the operation that is asked reads it. */
function operationOf(call: number): CallOperation {
  return async (name, payload) => {
    const target = named(name, 'ctx.operation(name, payload)')
    const argument = `${target}\n{"payload":${jsonStringify(payload) ?? 'null'}}`
    const envelope = jsonParse(await callHostFor(call, 'operation', argument))
    return (envelope as { data: unknown }).data
  }
}

function named(name: unknown, what: string): string {
  if (typeof name === 'string' && name !== '' && indexOf(name, '\n') < 0) return name
  throw new TypeErrorClass(`${what}: the name must be text that is not empty`)
}

function logOf(call: number): Log {
  const through =
    (print: Print): Print =>
    (...args) =>
      runInCall(call, () => {
        apply(print, undefined, args)
      })
  const log = through(info)
  const put = (name: string, print: Print): void => {
    defineProperty(log, name, { value: through(print), enumerable: true })
  }
  put('debug', debug)
  put('info', info)
  put('warn', warn)
  put('error', error)
  return log as Log
}
