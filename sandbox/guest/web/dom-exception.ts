import { defineConstants, defineInterface, takeInternals } from './interface.ts'
import { captureStackTrace, indexOf, slice } from './primordials.ts'

const CODES: Readonly<Record<string, number>> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
}

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
