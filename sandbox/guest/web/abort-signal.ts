import { DOMException } from './dom-exception.ts'
import { EventTarget, fireEvent, provideAbortState } from './event-target.ts'
import type { AbortState } from './event-target.ts'
import { Event } from './event.ts'
import { host } from './host.ts'
import { defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { apply, forEach, push } from './primordials.ts'
import { isWebIdlObject, requireArguments } from './webidl.ts'

const CONSTRUCT = Symbol('construct')

/** https://dom.spec.whatwg.org/#interface-AbortSignal */
export class AbortSignal extends EventTarget {
  readonly #state: AbortState = { aborted: false, reason: undefined, algorithms: [] }
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
    const signal = createSignal()
    host.setTimer(delayMs, false, () =>
      abortSignal(signal, new DOMException('The operation timed out.', 'TimeoutError')),
    )
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    requireArguments(arguments.length, 1, "Failed to execute 'any' on 'AbortSignal'")
    return followSignal([...signals].map(abortState))
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
    if (this.#state.aborted) throw this.#state.reason
  }

  static readonly stateOf = (value: unknown): AbortState | undefined => {
    return isWebIdlObject(value) && #state in value ? value.#state : undefined
  }
}

const { stateOf } = takeInternals(AbortSignal)
defineAttributes(AbortSignal, stateOf, {
  aborted: ({ aborted }) => aborted,
  reason: ({ reason }) => reason,
})
defineInterface('AbortSignal', AbortSignal)
provideAbortState(abortState)

/** The state of what is an AbortSignal, whatever a site did to its prototype. */
export function abortState(value: unknown): AbortState {
  const state = stateOf(value)
  if (state === undefined) throw new TypeError("The value is not of type 'AbortSignal'.")
  return state
}

export const createSignal = (): AbortSignal => new AbortSignal(CONSTRUCT)

/** A signal that aborts when the first of these does. */
export function followSignal(sources: readonly AbortState[]): AbortSignal {
  const aborted = sources.find((source) => source.aborted)
  if (aborted !== undefined) return abortedSignal(aborted.reason)
  const signal = createSignal()
  for (const source of sources) push(source.algorithms, () => abortSignal(signal, source.reason))
  return signal
}

function abortSignal(signal: AbortSignal, reason: unknown): void {
  const state = abortState(signal)
  if (state.aborted) return
  state.aborted = true
  state.reason =
    reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason
  const { algorithms } = state
  state.algorithms = []
  forEach(algorithms, (algorithm) => algorithm())
  fireEvent(signal, new Event('abort'))
}

function abortedSignal(reason: unknown): AbortSignal {
  const signal = createSignal()
  abortSignal(signal, reason)
  return signal
}

/** https://dom.spec.whatwg.org/#interface-abortcontroller */
export class AbortController {
  readonly #signal = createSignal()

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason?: unknown): void {
    abortSignal(this.#signal, reason)
  }
}

defineInterface('AbortController', AbortController)
