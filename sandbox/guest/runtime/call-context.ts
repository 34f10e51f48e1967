import {
  apply,
  defineProperty,
  deleteProperty,
  freeze,
  indexOf,
  jsonParse,
  jsonStringify,
  TypeErrorClass,
  jsonStringifyWith,
  slice,
  ErrorClass,
} from '#sandbox/guest/web/primordials.ts'

import { configured } from './config.ts'
import { GuestBucket } from './guest-bucket.ts'
import { GuestTable } from './guest-table.ts'
import { callHostFor } from './host-calls.ts'
import { runInCall, addWork, endWork, isLive, linesOf, workOf } from './live-calls.ts'
import { printLine } from './output.ts'
import { describeThrown } from './thrown.ts'

/** Base64 up to this length stays in the message: ten such files and two long texts fit into one host call. */
const MAX_INLINE_LENGTH = 256 * 1024

/** Of base64 in one host call: a multiple of four. */
const PART_LENGTH = 4 * 1024 * 1024

/** Promises of one call that may be open at once. */
const MAX_WORK = 256

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

type SendEmail = (message: unknown) => Promise<unknown>

/** A large file of a message, in base64. Linked, because site code can hook what arrays do. */
interface LargeFile {
  readonly base64: string
  /** Its reference in the message, once its parts are staged. */
  staged: unknown
  next: LargeFile | undefined
}

type WaitUntil = (promise: unknown) => void

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

// The creator of a context names the call whose rights it has.
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

/** Sends large files ahead, part by part: no host call then holds the service up for long. */
function sendEmailOf(call: number): SendEmail {
  return async (message) => {
    const { mailbox, first } = largeFilesOf(message)
    for (let file = first; file !== undefined; file = file.next) {
      file.staged = await stage(call, mailbox, file.base64)
    }
    let next = first
    const text = jsonStringifyWith(message, (key, value) => {
      if (next === undefined || !isLarge(key, value)) return value
      const { staged } = next
      next = next.next
      return staged
    })
    return jsonParse(await callHostFor(call, 'sendEmail', text ?? 'null'))
  }
}

/** None where no mailbox is named: the service says that one must be. */
function largeFilesOf(message: unknown): {
  readonly mailbox: string
  readonly first: LargeFile | undefined
} {
  let mailbox = ''
  let first: LargeFile | undefined
  let last: LargeFile | undefined
  jsonStringifyWith(message, (key, value) => {
    if (key === 'mailbox' && typeof value === 'string' && indexOf(value, '\n') < 0) mailbox = value
    if (!isLarge(key, value)) return value
    const file: LargeFile = { base64: value, staged: null, next: undefined }
    if (last === undefined) first = file
    else last.next = file
    last = file
    return null
  })
  return { mailbox, first: mailbox === '' ? undefined : first }
}

const isLarge = (key: string, value: unknown): value is string =>
  (key === 'raw' || key === 'contentBase64') &&
  typeof value === 'string' &&
  value.length > MAX_INLINE_LENGTH

async function stage(call: number, mailbox: string, base64: string): Promise<unknown> {
  let refs = ''
  for (let at = 0; at < base64.length; at += PART_LENGTH) {
    const part = `${mailbox}\n${slice(base64, at, at + PART_LENGTH)}`
    const ref = await callHostFor(call, 'mailPart', part)
    refs = refs === '' ? ref : `${refs},${ref}`
  }
  return jsonParse(`{"parts":[${refs}]}`)
}

/** Keeps the call open after its answer until the promise settles, within the time that the call has. */
function waitUntilOf(call: number): WaitUntil {
  return (promise) => {
    if (typeof promise !== 'object' || promise === null)
      throw new TypeErrorClass('ctx.waitUntil(promise): give it a promise')
    if (!isLive(call))
      throw new ErrorClass('ctx.waitUntil: the call that this ctx belongs to is over')
    if (workOf(call) >= MAX_WORK)
      throw new ErrorClass(`ctx.waitUntil: ${MAX_WORK} promises of this call are open already`)
    addWork(call)
    void settleWork(call, promise as Promise<unknown>)
  }
}

/** Its rejection is seen in the log only. */
async function settleWork(call: number, promise: Promise<unknown>): Promise<void> {
  try {
    await promise
  } catch (error) {
    const { message, stack } = describeThrown(error)
    const lines = linesOf(call)
    if (lines)
      printLine(call, lines, 'error', `Uncaught in waitUntil: ${stack === '' ? message : stack}`)
  }
  endWork(call)
}
