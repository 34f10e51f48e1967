import { cancel, defineHandler } from './event-handlers.ts'
import { ErrorEvent, PromiseRejectionEvent } from './event-kinds.ts'
import { EventTarget, fireEvent, provideToTargets, targetState } from './event-target.ts'
import type { Event } from './event.ts'
import { host } from './host.ts'
import { inspect } from './inspect.ts'
import { defineInterface } from './interface.ts'
import { apply, execPattern, findIndex, reflectGet, setPrototypeOf } from './primordials.ts'
import { requireArguments } from './webidl.ts'

/** A line of a stack: its file, line and column. */
const PLACE = /\n {4}at (?:.* \()?([^\n()]+):(\d+):(\d+)\)?(?:\n|$)/

/** The class of the global object, as in Deno: an event target that site code cannot construct. */
class Window extends EventTarget {
  constructor() {
    super()
    throw new TypeError('Illegal constructor')
  }
}

defineInterface('Window', Window)
setPrototypeOf(globalThis, Window.prototype)
defineHandler(globalThis, 'error', { call: callErrorHandler })
defineHandler(globalThis, 'unhandledrejection')
provideToTargets({ report })

let reporting = false

/** Reports an uncaught error: the global `error` event, then the log. */
export function reportError(error: unknown): void {
  requireArguments(arguments.length, 1, "Failed to execute 'reportError'")
  report(error)
}

/** Whether a listener handled an unhandled rejection. The promise is not the site's own: the reason is all we have. */
export function takeRejection(reason: unknown): boolean {
  if (!hasListener('unhandledrejection')) return false
  return unlessReporting(() => {
    const promise = Promise.reject(reason)
    void settled(promise)
    const event = new PromiseRejectionEvent('unhandledrejection', {
      promise,
      reason,
      cancelable: true,
    })
    return !fireEvent(globalThis, event)
  })
}

async function settled(promise: Promise<unknown>): Promise<void> {
  try {
    await promise
  } catch {
    // It is rejected so that listeners find what they expect.
  }
}

/** `reportError` for the platform itself. */
export function report(error: unknown): void {
  if (!unlessReporting(() => dispatchError(error)))
    host.print('error', `Uncaught ${inspect(error)}`)
}

function hasListener(type: string): boolean {
  const listeners = targetState(globalThis)?.listeners ?? []
  return findIndex(listeners, (listener) => listener.type === type) !== -1
}

/** Whether a listener handled the error; errors that listeners throw go to the log. */
function unlessReporting(dispatch: () => boolean): boolean {
  if (reporting) return false
  reporting = true
  try {
    return dispatch()
  } finally {
    reporting = false
  }
}

function dispatchError(error: unknown): boolean {
  if (!hasListener('error')) return false
  const init = { error, message: messageOf(error), cancelable: true, ...placeOf(error) }
  return !fireEvent(globalThis, new ErrorEvent('error', init))
}

function messageOf(error: unknown): string {
  try {
    return `Uncaught ${error as string}`
  } catch {
    return 'Uncaught exception'
  }
}

function placeOf(error: unknown): { filename?: string; lineno?: number; colno?: number } {
  const stack: unknown = error instanceof Error ? reflectGet(error, 'stack') : undefined
  const match = typeof stack === 'string' ? execPattern(PLACE, stack) : null
  if (match === null) return {}
  return { filename: match[1] ?? '', lineno: +(match[2] ?? 0), colno: +(match[3] ?? 0) }
}

/** `onerror` takes five arguments, and `true` is what cancels. */
function callErrorHandler(handler: Function, target: object, event: Event): void {
  const { message, filename, lineno, colno, error } = event as unknown as Record<string, unknown>
  const isError = event instanceof ErrorEvent
  const given = isError ? [message, filename, lineno, colno, error] : [event]
  const answer: unknown = apply(handler, target, given)
  if (answer === true && isError) cancel(event)
}
