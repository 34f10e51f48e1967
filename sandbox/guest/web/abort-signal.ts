import { DOMException } from './dom-exception.ts'
import { EventTarget, fireEvent, provideAbortAlgorithms } from './event-target.ts'
import type { AbortAlgorithms } from './event-target.ts'
import { Event } from './event.ts'
import { host } from './host.ts'
import { defineInterface, takeInternals } from './interface.ts'
import { apply, forEach, push } from './primordials.ts'
import { requireArguments } from './webidl.ts'

const CONSTRUCT = Symbol('construct')

/** https://dom.spec.whatwg.org/#interface-AbortSignal */
export class AbortSignal extends EventTarget {
  #aborted = false
  #reason: unknown = undefined
  #algorithms: (() => void)[] = []
  #onabort: unknown = null
  #onabortListener: ((event: Event) => void) | undefined

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    super()
  }

  static abort(reason?: unknown): AbortSignal {
    return abortedSignal(reason)
  }

  static timeout(milliseconds: number): AbortSignal {
    requireArguments(arguments.length, 1, "Failed to execute 'timeout' on 'AbortSignal'")
    const delayMs = Number(milliseconds)
    if (!(delayMs >= 0 && delayMs <= Number.MAX_SAFE_INTEGER))
      throw new TypeError('The delay must be a number of milliseconds that is not negative.')
    const signal = new AbortSignal(CONSTRUCT)
    host.setTimer(delayMs, false, () =>
      signal.#signalAbort(new DOMException('The operation timed out.', 'TimeoutError')),
    )
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    requireArguments(arguments.length, 1, "Failed to execute 'any' on 'AbortSignal'")
    return anySignal(signals)
  }

  static readonly following = (signals: Iterable<AbortSignal>): AbortSignal => {
    const sources = [...signals].map((source) => assertSignal(source))
    const aborted = sources.find((source) => source.#aborted)
    if (aborted !== undefined) return abortedSignal(aborted.#reason)
    const signal = new AbortSignal(CONSTRUCT)
    for (const source of sources) source.#algorithms.push(() => signal.#signalAbort(source.#reason))
    return signal
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  get onabort(): unknown {
    return this.#onabort
  }

  set onabort(handler: unknown) {
    this.#onabort = typeof handler === 'function' ? handler : null
    if (this.#onabortListener !== undefined) return
    this.#onabortListener = (event) => {
      if (typeof this.#onabort === 'function') apply(this.#onabort, this, [event])
    }
    this.addEventListener('abort', this.#onabortListener)
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason
  }

  #signalAbort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason === undefined ? abortError() : reason
    const algorithms = this.#algorithms
    this.#algorithms = []
    forEach(algorithms, (algorithm) => algorithm())
    fireEvent(this, new Event('abort'))
  }

  static readonly create = (): AbortSignal => {
    return new AbortSignal(CONSTRUCT)
  }

  static readonly abortWith = (signal: AbortSignal, reason: unknown): void => {
    signal.#signalAbort(reason)
  }

  static readonly assertSignal = (value: unknown): AbortSignal => {
    if (typeof value === 'object' && value !== null && #algorithms in value) return value
    throw new TypeError("The value is not of type 'AbortSignal'.")
  }

  static readonly algorithmsOf = (value: unknown): AbortAlgorithms => {
    const signal = assertSignal(value)
    return {
      get aborted() {
        return signal.#aborted
      },
      add(algorithm) {
        push(signal.#algorithms, algorithm)
      },
    }
  }

  static readonly reasonOf = (signal: AbortSignal): unknown => {
    return signal.#reason
  }
}

const internals = takeInternals(AbortSignal)
export const { create: createSignal, algorithmsOf, assertSignal } = internals
export const { following: anySignal, reasonOf: abortReasonOf } = internals
const { abortWith } = internals
provideAbortAlgorithms(algorithmsOf)
defineInterface('AbortSignal', AbortSignal)

function abortedSignal(reason: unknown): AbortSignal {
  const signal = createSignal()
  abortWith(signal, reason)
  return signal
}

function abortError(): DOMException {
  return new DOMException('This operation was aborted', 'AbortError')
}

/** https://dom.spec.whatwg.org/#interface-abortcontroller */
export class AbortController {
  readonly #signal = createSignal()

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason?: unknown): void {
    abortWith(this.#signal, reason)
  }
}

defineInterface('AbortController', AbortController)
