import { addListener, targetState } from './event-target.ts'
import type { TargetState } from './event-target.ts'
import type { Event } from './event.ts'
import { eventState } from './event.ts'
import { apply, defineProperty, getOwnPropertyDescriptor } from './primordials.ts'
import { isWebIdlObject } from './webidl.ts'

/** How an `on…` attribute is called, and what its return value means; by default `false` cancels. */
export type CallHandler = (handler: Function, target: object, event: Event) => void

/** An `on…` attribute on a prototype or the global: https://html.spec.whatwg.org/#event-handler-idl-attributes */
export function defineHandler(
  owner: object,
  type: string,
  { call = callHandler, changed }: { call?: CallHandler; changed?: (target: object) => void } = {},
): void {
  const name = `on${type}`
  const listen = listenerOf(type, call)
  const accessors = {
    get [name](): unknown {
      return requireState(this).handlers[type] ?? null
    },
    set [name](handler: unknown) {
      const state = requireState(this)
      const isNew = !(type in state.handlers)
      state.handlers[type] = isWebIdlObject(handler) ? handler : null
      // The place among the listeners is that of the first handler; later ones take it over.
      if (isNew && isWebIdlObject(handler)) addListener(state, newListener(type, listen))
      else if (isNew) delete state.handlers[type]
      changed?.(this)
    },
  }
  defineProperty(owner, name, getOwnPropertyDescriptor(accessors, name) as PropertyDescriptor)
}

function listenerOf(type: string, call: CallHandler) {
  return function (this: object, event: Event): void {
    const handler = targetState(this)?.handlers[type]
    if (typeof handler === 'function') call(handler, this, event)
  }
}

function callHandler(handler: Function, target: object, event: Event): void {
  if (apply(handler, target, [event]) === false) cancel(event)
}

/** What `preventDefault` does, whatever the site made of it. */
export function cancel(event: Event): void {
  const state = eventState(event)
  if (state !== undefined && state.cancelable && !state.passive) state.cancelled = true
}

const newListener = (type: string, callback: object) => ({
  type,
  callback,
  capture: false,
  once: false,
  passive: false,
  removed: false,
})

function requireState(value: unknown): TargetState {
  const state = targetState(value)
  if (state === undefined) throw new TypeError('Illegal invocation')
  return state
}
