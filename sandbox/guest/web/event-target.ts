import { DOMException } from './dom-exception.ts'
import { ErrorEvent, eventState } from './event.ts'
import type { Event, EventState } from './event.ts'
import { host } from './host.ts'
import { inspect } from './inspect.ts'
import { defineInterface, takeInternals } from './interface.ts'
import { apply, filter, findIndex, push, reflectGet } from './primordials.ts'
import { isWebIdlObject, requireArguments } from './webidl.ts'

interface Listener {
  readonly type: string
  readonly callback: object
  readonly capture: boolean
  readonly once: boolean
  readonly passive: boolean
  removed: boolean
}

/** All there is to an `AbortSignal` but for its listeners; the algorithms run once, ahead of these. */
export interface AbortState {
  aborted: boolean
  reason: unknown
  algorithms: (() => void)[]
}

let abortState: (signal: unknown) => AbortState

/** Called by abort-signal.ts, which builds on this file. */
export function provideAbortState(provider: (signal: unknown) => AbortState): void {
  abortState = provider
}

/** https://dom.spec.whatwg.org/#interface-eventtarget */
export class EventTarget {
  #listeners: Listener[] = []

  addEventListener(type: string, callback: unknown, options?: unknown): void {
    requireArguments(arguments.length, 2, "Failed to execute 'addEventListener' on 'EventTarget'")
    const { capture, once, passive, signal } = listenerOptions(options)
    const abort = signal === undefined ? undefined : abortState(signal)
    if (callback === null || callback === undefined || abort?.aborted) return
    if (!isWebIdlObject(callback))
      throw new TypeError("parameter 2 is not of type 'EventListener', nor null.")
    const name = `${type}`
    if (findIndex(this.#listeners, sameListener(name, callback, capture)) !== -1) return
    push(this.#listeners, { type: name, callback, capture, once, passive, removed: false })
    if (abort !== undefined) push(abort.algorithms, () => this.#remove(name, callback, capture))
  }

  removeEventListener(type: string, callback: unknown, options?: unknown): void {
    requireArguments(
      arguments.length,
      2,
      "Failed to execute 'removeEventListener' on 'EventTarget'",
    )
    if (isWebIdlObject(callback))
      this.#remove(`${type}`, callback, listenerOptions(options).capture)
  }

  dispatchEvent(event: Event): boolean {
    requireArguments(arguments.length, 1, "Failed to execute 'dispatchEvent' on 'EventTarget'")
    const state = dispatchState(event)
    if (state.dispatching)
      throw new DOMException('The event is already being dispatched.', 'InvalidStateError')
    state.trusted = false
    return fireEvent(this, event)
  }

  static readonly fire = (target: EventTarget, event: Event): boolean => {
    const state = dispatchState(event)
    state.dispatching = true
    state.target = target
    state.currentTarget = target
    const snapshot = target.#listeners
    const count = snapshot.length
    for (let index = 0; index < count && !state.stoppedAtOnce; index++) {
      const listener = snapshot[index]
      if (listener !== undefined && listener.type === state.type && !listener.removed)
        target.#deliver(listener, event, state)
    }
    state.dispatching = false
    state.currentTarget = null
    state.stopped = false
    state.stoppedAtOnce = false
    return !state.cancelled
  }

  #deliver(listener: Listener, event: Event, state: EventState): void {
    if (listener.once) this.#remove(listener.type, listener.callback, listener.capture)
    state.passive = listener.passive
    try {
      invoke(listener.callback, this, event)
    } catch (error) {
      reportError(error)
    }
    state.passive = false
  }

  #remove(type: string, callback: object, capture: boolean): void {
    const isIt = sameListener(type, callback, capture)
    this.#listeners = filter(this.#listeners, (listener) => {
      listener.removed ||= isIt(listener)
      return !listener.removed
    })
  }
}

/** Dispatches an event of the platform's own making. */
export const { fire: fireEvent } = takeInternals(EventTarget)
defineInterface('EventTarget', EventTarget)

const globalTarget = new EventTarget()
let reporting = false

/** The global as an event target; its one event that the platform fires is `error`. */
export const globalEvents = {
  addEventListener(type: string, callback: unknown, options?: unknown): void {
    globalTarget.addEventListener(type, callback, options)
  },
  removeEventListener(type: string, callback: unknown, options?: unknown): void {
    globalTarget.removeEventListener(type, callback, options)
  },
  dispatchEvent(event: Event): boolean {
    return globalTarget.dispatchEvent(event)
  },
}

/** An error that nobody caught: the global `error` event, then the log. */
export function reportError(error: unknown): void {
  if (!dispatchError(error)) host.print('error', `Uncaught ${inspect(error)}`)
}

/** Whether a listener took the error; what a listener throws meanwhile goes to the log. */
function dispatchError(error: unknown): boolean {
  if (reporting) return false
  reporting = true
  try {
    const event = new ErrorEvent('error', { error, message: messageOf(error), cancelable: true })
    return !fireEvent(globalTarget, event)
  } finally {
    reporting = false
  }
}

function messageOf(error: unknown): string {
  try {
    return `Uncaught ${error as string}`
  } catch {
    return 'Uncaught exception'
  }
}

function dispatchState(event: unknown): EventState {
  const state = eventState(event)
  if (state !== undefined) return state
  throw new TypeError("Failed to execute 'dispatchEvent': parameter 1 is not of type 'Event'.")
}

function invoke(callback: object, target: EventTarget, event: Event): void {
  if (typeof callback === 'function') {
    apply(callback, target, [event])
    return
  }
  const handle: unknown = reflectGet(callback, 'handleEvent')
  if (typeof handle !== 'function') throw new TypeError('handleEvent is not a function')
  apply(handle, callback, [event])
}

function listenerOptions(options: unknown) {
  if (!isWebIdlObject(options))
    return { capture: Boolean(options), once: false, passive: false, signal: undefined }
  const given = options as Readonly<Record<string, unknown>>
  return {
    capture: Boolean(given['capture']),
    once: Boolean(given['once']),
    passive: Boolean(given['passive']),
    signal: given['signal'],
  }
}

const sameListener =
  (type: string, callback: object, capture: boolean) =>
  (listener: Listener): boolean =>
    listener.callback === callback && listener.type === type && listener.capture === capture
