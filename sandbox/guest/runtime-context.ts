import { configured } from './runtime-config.ts'
import { apply, defineProperty, freeze } from './runtime-primordials.ts'

type Within = (call: number, work: () => void) => void
type Print = (...args: unknown[]) => void

// oxlint-disable-next-line typescript/unbound-method -- console methods do not use their receiver
const { debug, info, warn, error } = globalThis.console

export interface Log extends Print {
  debug: Print
  info: Print
  warn: Print
  error: Print
}

/** What a handler is given beside its input. Lines printed through `log` are always counted on this call. */
export class CallContext {
  readonly #call: number
  readonly #within: Within
  #log: Log | undefined

  constructor(call: number, within: Within) {
    this.#call = call
    this.#within = within
  }

  get env(): Readonly<Record<string, string>> {
    return configured().env
  }

  get log(): Log {
    this.#log ??= logOf(this.#call, this.#within)
    return this.#log
  }
}

freeze(CallContext.prototype)

function logOf(call: number, within: Within): Log {
  const through =
    (print: Print): Print =>
    (...args) =>
      within(call, () => {
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
