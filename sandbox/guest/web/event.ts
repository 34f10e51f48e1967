import { clockNow } from './clock.ts'
import {
  defineAttributes,
  defineConstants,
  defineInterface,
  defineLengths,
  sharedAccessors,
  takeInternals,
} from './interface.ts'
import { defineProperty } from './primordials.ts'
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
    defineProperty(this, 'isTrusted', IS_TRUSTED)
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

  initEvent(type: string, bubbles: unknown = false, cancelable: unknown = false): void {
    requireArguments(arguments.length, 1, "Failed to execute 'initEvent' on 'Event'")
    initializeEvent(this.#state, [type, bubbles, cancelable])
  }

  static readonly stateOf = (value: unknown): EventState | undefined => {
    return isWebIdlObject(value) && #state in value ? value.#state : undefined
  }
}

export const { stateOf: eventState } = takeInternals(Event)

/** The first three members of an event as given; whether it could still be changed. */
export function initializeEvent(state: EventState, given: readonly unknown[]): boolean {
  const type = `${given[0] as string}`
  if (state.dispatching) return false
  state.type = type
  state.bubbles = Boolean(given[1])
  state.cancelable = Boolean(given[2])
  state.stopped = false
  state.stoppedAtOnce = false
  state.cancelled = false
  state.trusted = false
  state.target = null
  return true
}

/** WebIDL's [LegacyUnforgeable]: a property of each event, which no subclass can hide. */
const IS_TRUSTED = sharedAccessors(
  {
    get isTrusted(): boolean {
      const state = eventState(this)
      if (state === undefined) throw new TypeError('Illegal invocation')
      return state.trusted
    },
  },
  'isTrusted',
)
IS_TRUSTED.configurable = false

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
})
defineLengths(Event, { initEvent: 1 })
defineInterface('Event', Event, 1)
defineConstants(Event, PHASES)
