import {
  captureStackTrace,
  defineProperty,
  deleteProperty,
  ErrorClass,
  freeze,
  hasOwn,
  indexOf,
  slice,
} from '#sandbox/guest/web/primordials.ts'
import type { HostFailure } from '#sandbox/protocol/protocol.ts'

/** The script that this is part of, as stacks name it. */
const PRELUDE = 'croft:prelude'

/** Where site code called the host: V8 formats the stack only when code reads it. */
export interface CallSite {
  readonly stack?: unknown
}

/** A refusal of the host, as site code catches it: `name` and `code`, `statusCode`, and what else the failure says. */
export class HostError extends ErrorClass {
  readonly #fromHost = true
  declare readonly code: string
  declare readonly statusCode: number

  constructor({ code, message, statusCode, fields }: HostFailure, at: CallSite | undefined) {
    super(message)
    put(this, 'name', code, false)
    put(this, 'code', code, true)
    put(this, 'statusCode', statusCode, true)
    for (const name in fields) {
      if (hasOwn(fields, name) && !hasOwn(this, name)) put(this, name, fields[name], true)
    }
    const frames = framesOf(at)
    if (frames !== undefined) put(this, 'stack', `${code}: ${message}${frames}`, false)
  }

  static readonly isOne = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && #fromHost in value && value.#fromHost
}

/** Whether this very object came from the host: site code that means it for its caller throws one of its own. */
export const isHostError = HostError.isOne

deleteProperty(HostError, 'isOne')
deleteProperty(HostError.prototype, 'constructor')
freeze(HostError.prototype)
freeze(HostError)

export function captureCallSite(): CallSite {
  const at: CallSite = {}
  captureStackTrace(at, captureCallSite)
  return at
}

/** Site code's own part of the stack. */
export function framesOf(at: CallSite | undefined): string | undefined {
  try {
    const stack = at?.stack
    if (typeof stack !== 'string') return undefined
    let start = indexOf(stack, '\n')
    while (start >= 0) {
      const end = indexOf(stack, '\n', start + 1)
      const own = indexOf(slice(stack, start, end < 0 ? stack.length : end), PRELUDE) >= 0
      if (!own) return slice(stack, start)
      start = end
    }
    return ''
  } catch {
    // `Error.prepareStackTrace` is site code.
    return undefined
  }
}

function put(error: object, name: string, value: unknown, enumerable: boolean): void {
  defineProperty(error, name, { value, enumerable, writable: true, configurable: true })
}
