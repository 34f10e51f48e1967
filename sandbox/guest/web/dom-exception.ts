import { defineConstants, defineInterface, takeInternals } from './interface.ts'
import { captureStackTrace, indexOf, slice } from './primordials.ts'

/** The names that have a code, which is their place here, counted from 1; some are gone from the standard. */
const NAMES = `
IndexSize - HierarchyRequest WrongDocument InvalidCharacter - NoModificationAllowed NotFound NotSupported
InUseAttribute InvalidState Syntax InvalidModification Namespace InvalidAccess - TypeMismatch Security Network
Abort URLMismatch QuotaExceeded Timeout InvalidNodeType DataClone`
  .trim()
  .split(/\s/)
  .map((name) => `${name}Error`)
const CODES: Readonly<Record<string, number>> = Object.fromEntries(
  NAMES.map((name, index) => [name, index + 1] as const).filter(([name]) => name !== '-Error'),
)

/** https://webidl.spec.whatwg.org/#idl-DOMException */
export class DOMException extends Error {
  readonly #name: string
  readonly #message: string

  constructor(message = '', nameOrOptions: string | { name?: string; cause?: unknown } = 'Error') {
    super()
    const options = typeof nameOrOptions === 'object' ? nameOrOptions : { name: nameOrOptions }
    this.#message = `${message}`
    this.#name = options.name === undefined ? 'Error' : `${options.name}`
    if ('cause' in options) hide(this, 'cause', options.cause)
    hide(this, 'stack', stackOf(this))
  }

  override get name(): string {
    return this.#name
  }

  override get message(): string {
    return this.#message
  }

  get code(): number {
    return Object.hasOwn(CODES, this.#name) ? (CODES[this.#name] ?? 0) : 0
  }

  static readonly isDOMException = (value: unknown): value is DOMException => {
    return typeof value === 'object' && value !== null && #name in value
  }
}

export const { isDOMException } = takeInternals(DOMException)

function stackOf(exception: DOMException): string {
  const { message, name } = exception
  const trace = { stack: '' }
  captureStackTrace(trace, DOMException)
  const frames = indexOf(trace.stack, '\n    at ')
  const heading = message === '' ? name : `${name}: ${message}`
  return frames === -1 ? heading : heading + slice(trace.stack, frames)
}

const hide = (target: object, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, writable: true, configurable: true })
}

defineInterface('DOMException', DOMException)
defineConstants(
  DOMException,
  Object.fromEntries(Object.entries(CODES).map(([name, code]) => [constantName(name), code])),
)

/** `NotFoundError` is `NOT_FOUND_ERR`. */
function constantName(name: string): string {
  const words = name.replace(/Error$/, '').replace(/^InUse/, 'Inuse')
  return `${words.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=URL)(?=M)/g, '_').toUpperCase()}_ERR`
}
