import { DOMException } from './dom-exception.ts'
import { eventState } from './event.ts'
import type { Event, EventState } from './event.ts'
import { defineInterface, defineLengths, takeInternals } from './interface.ts'
import { apply, create, filter, findIndex, push, reflectGet } from './primordials.ts'
import { isWebIdlObject, requireArguments } from './webidl.ts'

interface Listener {
  readonly type: string
  readonly callback: object
  readonly capture: boolean
  readonly once: boolean
  readonly passive: boolean
  removed: boolean
}

/** What an event target remembers; `handlers` are its `on…` attributes. */
export interface TargetState {
  listeners: Listener[]
  readonly handlers: Record<string, unknown>
}

/** The state of an `AbortSignal` except for its listeners; the algorithms run once, before these. */
export interface AbortState {
  readonly signal: EventTarget
  aborted: boolean
  reason: unknown
  algorithms: (() => void)[]
  /** For one that follows others: those of them that follow none. */
  readonly sources: AbortState[]
  dependents: AbortState[]
}

interface Providers {
  abortState(signal: unknown): AbortState
  report(error: unknown): void
}

let providers: Providers = {
  abortState() {
    throw new TypeError('There are no signals yet')
  },
  report() {},
}

/** Called by the files that build on this one. */
export function provideToTargets(provided: Partial<Providers>): void {
  providers = { ...providers, ...provided }
}

/** https://dom.spec.whatwg.org/#interface-eventtarget */
export class EventTarget {
  readonly #state = newState()

  addEventListener(type: string, callback: unknown, options?: unknown): void {
    requireArguments(arguments.length, 2, "Failed to execute 'addEventListener' on 'EventTarget'")
    const target = requireTarget(this)
    const { signal, ...how } = listenerOptions(options)
    const abort = signal === undefined ? undefined : providers.abortState(signal)
    if (callback !== null && callback !== undefined && !isWebIdlObject(callback))
      throw new TypeError(
        "Failed to execute 'addEventListener' on 'EventTarget': parameter 2 is not of type 'EventListener', nor null",
      )
    const name = `${type}`
    if (!isWebIdlObject(callback) || abort?.aborted) return
    if (!addListener(target, { ...how, type: name, callback, removed: false })) return
    if (abort !== undefined)
      push(abort.algorithms, () => remove(target, name, callback, how.capture))
  }

  removeEventListener(type: string, callback: unknown, options?: unknown): void {
    const where = "Failed to execute 'removeEventListener' on 'EventTarget'"
    requireArguments(arguments.length, 2, where)
    const target = requireTarget(this)
    const name = `${type}`
    const capture = isWebIdlObject(options) ? reflectGet(options, 'capture') : options
    if (isWebIdlObject(callback)) remove(target, name, callback, Boolean(capture))
  }

  dispatchEvent(event: Event): boolean {
    requireArguments(arguments.length, 1, "Failed to execute 'dispatchEvent' on 'EventTarget'")
    const target = this ?? globalThis
    const targetState = requireTarget(target)
    const state = dispatchState(event)
    if (state.dispatching)
      throw new DOMException('The event is already being dispatched.', 'InvalidStateError')
    state.trusted = false
    return dispatch({ target, targetState, event, state })
  }

  static readonly stateOf = (value: unknown): TargetState | undefined => {
    return isWebIdlObject(value) && #state in value ? value.#state : undefined
  }
}

const { stateOf } = takeInternals(EventTarget)
defineLengths(EventTarget, { addEventListener: 2, removeEventListener: 2 })
defineInterface('EventTarget', EventTarget)

const globalState = newState()

/** The state of an event target; of the global for what is called without a receiver. */
export const targetState = (value: unknown): TargetState | undefined =>
  value === undefined || value === null || value === globalThis ? globalState : stateOf(value)

/** Dispatches an event of the platform's own making; false when a listener has cancelled it. */
export function fireEvent(target: object, event: Event): boolean {
  const state = dispatchState(event)
  state.trusted = true
  return dispatch({ target, targetState: requireTarget(target), event, state })
}

interface Dispatch {
  readonly target: object
  readonly targetState: TargetState
  readonly event: Event
  readonly state: EventState
}

function dispatch(what: Dispatch): boolean {
  const { state, target } = what
  const { listeners } = what.targetState
  state.dispatching = true
  state.target = target
  state.currentTarget = target
  const count = listeners.length
  for (let index = 0; index < count && !state.stoppedAtOnce; index++) {
    const listener = listeners[index]
    if (listener !== undefined && listener.type === state.type && !listener.removed)
      deliver(listener, what)
  }
  state.dispatching = false
  state.currentTarget = null
  state.stopped = false
  state.stoppedAtOnce = false
  return !state.cancelled
}

function deliver(listener: Listener, { target, targetState: owner, event, state }: Dispatch): void {
  if (listener.once) remove(owner, listener.type, listener.callback, listener.capture)
  state.passive = listener.passive
  try {
    invoke(listener.callback, target, event)
  } catch (error) {
    providers.report(error)
  }
  state.passive = false
}

/** Whether it was not there yet. */
export function addListener(target: TargetState, listener: Listener): boolean {
  const { type, callback, capture } = listener
  if (findIndex(target.listeners, sameListener(type, callback, capture)) !== -1) return false
  push(target.listeners, listener)
  return true
}

function remove(target: TargetState, type: string, callback: object, capture: boolean): void {
  const isIt = sameListener(type, callback, capture)
  if (findIndex(target.listeners, isIt) === -1) return
  target.listeners = filter(target.listeners, (listener) => {
    listener.removed ||= isIt(listener)
    return !listener.removed
  })
}

function newState(): TargetState {
  return { listeners: [], handlers: create(null) as Record<string, unknown> }
}

function requireTarget(value: unknown): TargetState {
  const state = targetState(value)
  if (state === undefined) throw new TypeError('Illegal invocation')
  return state
}

function dispatchState(event: unknown): EventState {
  const state = eventState(event)
  if (state !== undefined) return state
  throw new TypeError(
    "Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'",
  )
}

function invoke(callback: object, target: object, event: Event): void {
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
