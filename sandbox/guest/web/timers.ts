import { reportError } from './event-target.ts'
import { host } from './host.ts'
import { defineOperation } from './interface.ts'
import { apply } from './primordials.ts'
import { requireArguments } from './webidl.ts'

const SETTLED = Promise.resolve()
const MAX_DELAY_MS = 2 ** 31 - 1

const clear = (id?: unknown): void => host.clearTimer(Number(id) || 0)

/** https://html.spec.whatwg.org/#timers; code in a string is refused. */
export const timers = {
  setTimeout: starter('setTimeout', false),
  setInterval: starter('setInterval', true),
  clearTimeout: defineOperation('clearTimeout', 0, clear),
  clearInterval: defineOperation('clearInterval', 0, (id?: unknown) => clear(id)),
}

/** https://html.spec.whatwg.org/#microtask-queuing */
export function queueMicrotask(callback: () => void): void {
  requireArguments(arguments.length, 1, "Failed to execute 'queueMicrotask'")
  if (typeof callback !== 'function')
    throw new TypeError('The "callback" argument must be of type function.')
  void runSoon(callback)
}

function starter(name: string, repeat: boolean) {
  return defineOperation(name, 1, (...given: unknown[]): number => {
    requireArguments(given.length, 1, `Failed to execute '${name}'`)
    const [handler, delay, ...args] = given
    if (typeof handler !== 'function')
      throw new TypeError(`${name} takes a function: code in a string is refused.`)
    return host.setTimer(delayMs(delay), repeat, () => {
      try {
        apply(handler, globalThis, args)
      } catch (error) {
        reportError(error)
      }
    })
  })
}

function delayMs(delay: unknown): number {
  const number = Math.trunc(Number(delay)) || 0
  return number > 0 && number <= MAX_DELAY_MS ? number : 0
}

async function runSoon(callback: () => void): Promise<void> {
  await SETTLED
  try {
    callback()
  } catch (error) {
    reportError(error)
  }
}
