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

const text = (value: unknown): string => (value === undefined ? '' : `${value as string}`)

export const ErrorEvent = defineEvent('ErrorEvent', 1, {
  message: ({ message }) => text(message),
  filename: ({ filename }) => text(filename),
  lineno: ({ lineno }) => Number(lineno ?? 0) >>> 0,
  colno: ({ colno }) => Number(colno ?? 0) >>> 0,
  error: ({ error }) => error,
})
defineEvent('CustomEvent', 1, { detail: ({ detail }) => detail ?? null })
defineEvent('PromiseRejectionEvent', 2, {
  promise: (init) => {
    if ('promise' in init) return init['promise']
    throw new TypeError("Failed to construct 'PromiseRejectionEvent': 'promise' is required.")
  },
  reason: ({ reason }) => reason,
})

/** A class of events whose attributes are read from its init dictionary when one is made. */
function defineEvent(
  name: string,
  required: number,
  attributes: Readonly<Record<string, (init: Readonly<Record<string, unknown>>) => unknown>>,
) {
  class SpecificEvent extends Event {
    readonly #values: Readonly<Record<string, unknown>>

    constructor(type: string, init?: unknown) {
      requireArguments(arguments.length, required, `Failed to construct '${name}'`)
      super(type, init)
      const options = dictionary(init, `Failed to construct '${name}'`)
      const values = Object.entries(attributes).map(([key, read]) => [key, read(options)] as const)
      this.#values = Object.fromEntries(values)
    }

    static readonly valuesOf = (value: unknown): Readonly<Record<string, unknown>> | undefined => {
      return isWebIdlObject(value) && #values in value ? value.#values : undefined
    }
  }
  const { valuesOf } = takeInternals(SpecificEvent)
  for (const key of Object.keys(attributes))
    defineAttributes(SpecificEvent, valuesOf, { [key]: (values) => values[key] })
  defineInterface(name, SpecificEvent, required)
  return SpecificEvent
}
