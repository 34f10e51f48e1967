import { DOMException } from './dom-exception.ts'
import { defineHandler } from './event-handlers.ts'
import { EventTarget, fireEvent, provideToTargets } from './event-target.ts'
import type { AbortState } from './event-target.ts'
import { Event } from './event.ts'
import { host } from './host.ts'
import { defineAttributes, defineInterface, defineLengths, takeInternals } from './interface.ts'
import { filter, findIndex, forEach, map, min, push, trunc } from './primordials.ts'
import { isWebIdlObject, requireArguments, sequence } from './webidl.ts'

const CONSTRUCT = Symbol('construct')
/** Later is never, for what lives as long as a function does. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** https://dom.spec.whatwg.org/#interface-AbortSignal */
export class AbortSignal extends EventTarget {
  readonly #state: AbortState = {
    signal: this,
    aborted: false,
    reason: undefined,
    algorithms: [],
    sources: [],
    dependents: [],
  }

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    super()
  }

  static abort(...reason: unknown[]): AbortSignal {
    return abortedSignal(reason[0])
  }

  static timeout(milliseconds: number): AbortSignal {
    requireArguments(arguments.length, 1, "Failed to execute 'AbortSignal.timeout'")
    const delayMs = trunc(+milliseconds)
    if (!(delayMs >= 0 && delayMs <= Number.MAX_SAFE_INTEGER))
      throw new TypeError(
        "Failed to execute 'AbortSignal.timeout': Argument 1 is outside the accepted range of 0 to 9007199254740991, inclusive",
      )
    const signal = createSignal()
    host.setTimer(min(delayMs, MAX_DELAY_MS), false, () =>
      abortSignal(
        signal,
        new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
      ),
    )
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const where = "Failed to execute 'AbortSignal.any'"
    requireArguments(arguments.length, 1, where)
    return followSignal(
      map(sequence(signals, `${where}: Argument 1`), (signal, index) => {
        const state = stateOf(signal)
        if (state !== undefined) return state
        throw new TypeError(`${where}: Argument 1, index ${index} is not of type AbortSignal`)
      }),
    )
  }

  throwIfAborted(): void {
    if (this.#state.aborted) throw this.#state.reason
  }

  static readonly abortStateOf = (value: unknown): AbortState | undefined => {
    return isWebIdlObject(value) && #state in value ? value.#state : undefined
  }
}

export const { abortStateOf } = takeInternals(AbortSignal)
const stateOf = abortStateOf
defineAttributes(AbortSignal, stateOf, {
  aborted: ({ aborted }) => aborted,
  reason: ({ reason }) => reason,
})
defineHandler(AbortSignal.prototype, 'abort')
defineInterface('AbortSignal', AbortSignal)
provideToTargets({ abortState })

/** The state of what is an AbortSignal, whatever a site did to its prototype. */
export function abortState(value: unknown): AbortState {
  const state = stateOf(value)
  if (state === undefined) throw new TypeError("The value is not of type 'AbortSignal'.")
  return state
}

export const createSignal = (): AbortSignal => new AbortSignal(CONSTRUCT)

/** A signal that aborts when the first of these does. */
export function followSignal(sources: readonly AbortState[]): AbortSignal {
  const aborted = findIndex(sources, (source) => source.aborted)
  if (aborted !== -1) return abortedSignal(sources[aborted]?.reason)
  const signal = createSignal()
  const state = abortState(signal)
  forEach(sources, (source) => {
    if (source.sources.length === 0) follow(state, source)
    else forEach(source.sources, (root) => follow(state, root))
  })
  return signal
}

function follow(state: AbortState, source: AbortState): void {
  if (findIndex(state.sources, (known) => known === source) !== -1) return
  push(state.sources, source)
  push(source.dependents, state)
}

/** All that follow are aborted before any listener runs: https://dom.spec.whatwg.org/#abortsignal-signal-abort */
export function abortSignal(signal: AbortSignal, given: unknown): void {
  const state = abortState(signal)
  if (state.aborted) return
  const reason = given === undefined ? abortError() : given
  const followers = filter(state.dependents, (dependent) => !dependent.aborted)
  state.dependents = []
  markAborted(state, reason)
  forEach(followers, (follower) => markAborted(follower, reason))
  tellAborted(state)
  forEach(followers, tellAborted)
}

const abortError = (): DOMException => new DOMException('The signal has been aborted', 'AbortError')

function markAborted(state: AbortState, reason: unknown): void {
  state.aborted = true
  state.reason = reason
}

function tellAborted(state: AbortState): void {
  const { algorithms } = state
  state.algorithms = []
  forEach(algorithms, (algorithm) => algorithm())
  fireEvent(state.signal, new Event('abort'))
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

defineLengths(AbortController, { abort: 0 })
defineInterface('AbortController', AbortController)
