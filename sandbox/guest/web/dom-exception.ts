import { defineConstants, defineInterface, sharedAccessors, takeInternals } from './interface.ts'
import { captureStackTrace, create, defineProperty, indexOf, slice } from './primordials.ts'
import { isWebIdlObject } from './webidl.ts'

/** The names of the codes, which are their places here, counted from 1. */
const CODES =
  `INDEX_SIZE DOMSTRING_SIZE HIERARCHY_REQUEST WRONG_DOCUMENT INVALID_CHARACTER NO_DATA_ALLOWED
NO_MODIFICATION_ALLOWED NOT_FOUND NOT_SUPPORTED INUSE_ATTRIBUTE INVALID_STATE SYNTAX INVALID_MODIFICATION NAMESPACE
INVALID_ACCESS VALIDATION TYPE_MISMATCH SECURITY NETWORK ABORT URL_MISMATCH QUOTA_EXCEEDED TIMEOUT INVALID_NODE_TYPE
DATA_CLONE`.split(/\s/)
/** They have a constant, but no exception has them any more. */
const UNUSED = ['DOMSTRING_SIZE', 'NO_DATA_ALLOWED', 'VALIDATION']
const codes = create(null) as Record<string, number | undefined>
for (const [index, name] of CODES.entries())
  if (!UNUSED.includes(name)) codes[exceptionName(name)] = index + 1

/** https://webidl.spec.whatwg.org/#idl-DOMException; as in Node the second argument may be `{ name, cause }`. */
export class DOMException extends Error {
  readonly #name: string
  readonly #message: string
  #stack: unknown

  constructor(message: unknown = '', nameOrOptions: unknown = 'Error') {
    super()
    const options = isWebIdlObject(nameOrOptions)
      ? (nameOrOptions as { name?: unknown; cause?: unknown })
      : { name: nameOrOptions }
    this.#message = `${message as string}`
    this.#name = options.name === undefined ? 'Error' : `${options.name as string}`
    if ('cause' in options) hide(this, 'cause', options.cause)
    defineProperty(this, 'stack', STACK)
    this.#stack = traceOf(this)
  }

  override get name(): string {
    return this.#name
  }

  override get message(): string {
    return this.#message
  }

  get code(): number {
    return codes[this.#name] ?? 0
  }

  static readonly isDOMException = (value: unknown): value is DOMException => {
    return isWebIdlObject(value) && #name in value
  }

  static readonly stackOf = (exception: DOMException): unknown => {
    return exception.#stack
  }

  static readonly setStack = (exception: DOMException, stack: unknown): void => {
    exception.#stack = stack
  }
}

export const { isDOMException, stackOf, setStack } = takeInternals(DOMException)

/** As newer V8 has it: a property of each error, with accessors that all share. */
const STACK = sharedAccessors(
  {
    get stack(): unknown {
      return isDOMException(this) ? stackOf(this) : undefined
    },
    set stack(stack: unknown) {
      if (isDOMException(this)) setStack(this, stack)
    },
  },
  'stack',
)
STACK.enumerable = false

function traceOf(exception: DOMException): string {
  const { message, name } = exception
  const trace = { stack: '' }
  captureStackTrace(trace, DOMException)
  const frames = indexOf(`${trace.stack}`, '\n    at ')
  const heading = message === '' ? name : `${name}: ${message}`
  return frames === -1 ? heading : heading + slice(trace.stack, frames)
}

function hide(target: object, key: string, value: unknown): void {
  defineProperty(target, key, { value, writable: true, configurable: true })
}

defineInterface('DOMException', DOMException)
defineConstants(
  DOMException,
  Object.fromEntries(CODES.map((name, index) => [`${name}_ERR`, index + 1])),
)

/** `NOT_FOUND` is `NotFoundError`. */
function exceptionName(code: string): string {
  const words = code
    .split('_')
    .map((word) => (word === 'URL' ? word : word.charAt(0) + word.slice(1).toLowerCase()))
  return `${words.join('').replace(/^Inuse/, 'InUse')}Error`
}
