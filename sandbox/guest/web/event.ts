import { clockNow } from './clock.ts'
import { defineAttributes, defineConstants, defineInterface, takeInternals } from './interface.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 }

/** All there is to an event; dispatching changes the second half. */
export interface EventState {
  type: string
  bubbles: boolean
  cancelable: boolean
  readonly composed: boolean
  readonly timeStamp: number
  target: object | null
  currentTarget: object | null
  dispatching: boolean
  stopped: boolean
  stoppedAtOnce: boolean
  cancelled: boolean
  passive: boolean
  trusted: boolean
}

/** https://dom.spec.whatwg.org/#interface-event, for targets that have no parents. */
export class Event {
  readonly #state: EventState

  constructor(type: string, init?: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'Event'")
    const options = dictionary(init, "Failed to construct 'Event'")
    this.#state = {
      type: `${type}`,
      bubbles: Boolean(options['bubbles']),
      cancelable: Boolean(options['cancelable']),
      composed: Boolean(options['composed']),
      timeStamp: clockNow(),
      target: null,
      currentTarget: null,
      dispatching: false,
      stopped: false,
      stoppedAtOnce: false,
      cancelled: false,
      passive: false,
      trusted: false,
    }
  }

  get returnValue(): boolean {
    return !this.#state.cancelled
  }
  set returnValue(value: boolean) {
    if (!value) this.preventDefault()
  }
  get cancelBubble(): boolean {
    return this.#state.stopped
  }
  set cancelBubble(value: boolean) {
    if (value) this.#state.stopped = true
  }

  composedPath(): object[] {
    const { currentTarget } = this.#state
    return currentTarget === null ? [] : [currentTarget]
  }

  stopPropagation(): void {
    this.#state.stopped = true
  }

  stopImmediatePropagation(): void {
    this.#state.stopped = true
    this.#state.stoppedAtOnce = true
  }

  preventDefault(): void {
    if (this.#state.cancelable && !this.#state.passive) this.#state.cancelled = true
  }

  initEvent(type: string, bubbles = false, cancelable = false): void {
    const state = this.#state
    if (state.dispatching) return
    state.type = `${type}`
    state.bubbles = bubbles
    state.cancelable = cancelable
    state.stopped = false
    state.stoppedAtOnce = false
    state.cancelled = false
    state.target = null
  }

  static readonly stateOf = (value: unknown): EventState | undefined => {
    return isWebIdlObject(value) && #state in value ? value.#state : undefined
  }
}

export const { stateOf: eventState } = takeInternals(Event)
defineAttributes(Event, eventState, {
  type: ({ type }) => type,
  target: ({ target }) => target,
  srcElement: ({ target }) => target,
  currentTarget: ({ currentTarget }) => currentTarget,
  eventPhase: ({ dispatching }) => (dispatching ? PHASES.AT_TARGET : PHASES.NONE),
  bubbles: ({ bubbles }) => bubbles,
  cancelable: ({ cancelable }) => cancelable,
  composed: ({ composed }) => composed,
  defaultPrevented: ({ cancelled }) => cancelled,
  timeStamp: ({ timeStamp }) => timeStamp,
  isTrusted: ({ trusted }) => trusted,
})
defineInterface('Event', Event, 1)
defineConstants(Event, PHASES)

class CustomEvent extends Event {
  readonly #detail: unknown

  constructor(type: string, init?: unknown) {
    super(...eventArguments(arguments, type, init))
    this.#detail = dictionary(init, "Failed to construct 'CustomEvent'")['detail'] ?? null
  }

  get detail(): unknown {
    return this.#detail
  }
}

export class ErrorEvent extends Event {
  readonly #init: Readonly<Record<string, unknown>>

  constructor(type: string, init?: unknown) {
    super(...eventArguments(arguments, type, init))
    this.#init = { ...dictionary(init, "Failed to construct 'ErrorEvent'") }
  }

  static readonly initOf = (value: unknown): Readonly<Record<string, unknown>> | undefined => {
    return isWebIdlObject(value) && #init in value ? value.#init : undefined
  }
}

defineAttributes(ErrorEvent, takeInternals(ErrorEvent).initOf, {
  message: ({ message }) => text(message),
  filename: ({ filename }) => text(filename),
  lineno: ({ lineno }) => Number(lineno ?? 0) >>> 0,
  colno: ({ colno }) => Number(colno ?? 0) >>> 0,
  error: ({ error }) => error,
})

class PromiseRejectionEvent extends Event {
  readonly #promise: unknown
  readonly #reason: unknown

  constructor(type: string, init: unknown) {
    requireArguments(arguments.length, 2, "Failed to construct 'PromiseRejectionEvent'")
    super(type, init)
    const options = dictionary(init, "Failed to construct 'PromiseRejectionEvent'")
    if (!('promise' in options))
      throw new TypeError("Failed to construct 'PromiseRejectionEvent': 'promise' is required.")
    this.#promise = options['promise']
    this.#reason = options['reason']
  }

  get promise(): unknown {
    return this.#promise
  }
  get reason(): unknown {
    return this.#reason
  }
}

/** Keeps the count of arguments, so that `new CustomEvent()` is refused like `new Event()`. */
function eventArguments(given: IArguments, type: string, init: unknown) {
  return (given.length === 0 ? [] : [type, init]) as unknown as [string, unknown]
}

const text = (value: unknown): string => (value === undefined ? '' : `${value as string}`)

defineInterface('CustomEvent', CustomEvent, 1)
defineInterface('ErrorEvent', ErrorEvent, 1)
defineInterface('PromiseRejectionEvent', PromiseRejectionEvent, 2)
