import { clockNow } from './clock.ts'
import { defineConstants, defineInterface } from './interface.ts'
import { dictionary, requireArguments } from './webidl.ts'

/** What a dispatch changes about an event; only event-target.ts asks for it. */
export interface Dispatch {
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
  readonly #dispatch: Dispatch = {
    target: null,
    currentTarget: null,
    dispatching: false,
    stopped: false,
    stoppedAtOnce: false,
    cancelled: false,
    passive: false,
    trusted: false,
  }
  #type: string
  #bubbles: boolean
  #cancelable: boolean
  readonly #composed: boolean
  readonly #timeStamp = clockNow()

  constructor(type: string, init?: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'Event'")
    const options = dictionary(init, "Failed to construct 'Event'")
    this.#type = `${type}`
    this.#bubbles = Boolean(options['bubbles'])
    this.#cancelable = Boolean(options['cancelable'])
    this.#composed = Boolean(options['composed'])
  }

  get type(): string {
    return this.#type
  }
  get target(): object | null {
    return this.#dispatch.target
  }
  get srcElement(): object | null {
    return this.#dispatch.target
  }
  get currentTarget(): object | null {
    return this.#dispatch.currentTarget
  }
  get eventPhase(): number {
    return this.#dispatch.dispatching ? 2 : 0
  }
  get bubbles(): boolean {
    return this.#bubbles
  }
  get cancelable(): boolean {
    return this.#cancelable
  }
  get composed(): boolean {
    return this.#composed
  }
  get defaultPrevented(): boolean {
    return this.#dispatch.cancelled
  }
  get returnValue(): boolean {
    return !this.#dispatch.cancelled
  }
  set returnValue(value: boolean) {
    if (!value) this.preventDefault()
  }
  get cancelBubble(): boolean {
    return this.#dispatch.stopped
  }
  set cancelBubble(value: boolean) {
    if (value) this.#dispatch.stopped = true
  }
  get timeStamp(): number {
    return this.#timeStamp
  }
  get isTrusted(): boolean {
    return this.#dispatch.trusted
  }

  composedPath(): object[] {
    const { currentTarget } = this.#dispatch
    return currentTarget === null ? [] : [currentTarget]
  }

  stopPropagation(): void {
    this.#dispatch.stopped = true
  }

  stopImmediatePropagation(): void {
    this.#dispatch.stopped = true
    this.#dispatch.stoppedAtOnce = true
  }

  preventDefault(): void {
    if (this.#cancelable && !this.#dispatch.passive) this.#dispatch.cancelled = true
  }

  initEvent(type: string, bubbles = false, cancelable = false): void {
    if (this.#dispatch.dispatching) return
    this.#type = `${type}`
    this.#bubbles = bubbles
    this.#cancelable = cancelable
    this.#dispatch.stopped = false
    this.#dispatch.stoppedAtOnce = false
    this.#dispatch.cancelled = false
    this.#dispatch.target = null
  }

  static readonly dispatchOf = (event: unknown): Dispatch => {
    if (typeof event === 'object' && event !== null && #dispatch in event) return event.#dispatch
    throw new TypeError("Failed to execute 'dispatchEvent': parameter 1 is not of type 'Event'.")
  }
}

export const { dispatchOf } = Event
Reflect.deleteProperty(Event, 'dispatchOf')

export class CustomEvent extends Event {
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

  get message(): string {
    return text(this.#init['message'])
  }
  get filename(): string {
    return text(this.#init['filename'])
  }
  get lineno(): number {
    return Number(this.#init['lineno'] ?? 0) >>> 0
  }
  get colno(): number {
    return Number(this.#init['colno'] ?? 0) >>> 0
  }
  get error(): unknown {
    return this.#init['error']
  }
}

export class PromiseRejectionEvent extends Event {
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

const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 }
defineInterface('Event', Event, 1)
defineConstants(Event, PHASES)
defineInterface('CustomEvent', CustomEvent, 1)
defineInterface('ErrorEvent', ErrorEvent, 1)
defineInterface('PromiseRejectionEvent', PromiseRejectionEvent, 2)
