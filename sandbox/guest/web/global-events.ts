import { EventTarget, fireEvent } from './event-target.ts'
import { ErrorEvent } from './event.ts'
import type { Event } from './event.ts'
import { provideErrorDispatch } from './report-error.ts'

const target = new EventTarget()
let reporting = false

/** The global as an event target, and its one event that the platform fires: `error`. */
export const globalEvents = {
  addEventListener(type: string, callback: unknown, options?: unknown): void {
    target.addEventListener(type, callback, options)
  },
  removeEventListener(type: string, callback: unknown, options?: unknown): void {
    target.removeEventListener(type, callback, options)
  },
  dispatchEvent(event: Event): boolean {
    return target.dispatchEvent(event)
  },
}

provideErrorDispatch((error) => {
  if (reporting) return false
  reporting = true
  try {
    const event = new ErrorEvent('error', { error, message: messageOf(error), cancelable: true })
    return !fireEvent(target, event)
  } finally {
    reporting = false
  }
})

function messageOf(error: unknown): string {
  try {
    return `Uncaught ${error as string}`
  } catch {
    return 'Uncaught exception'
  }
}
