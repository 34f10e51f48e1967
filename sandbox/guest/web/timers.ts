import { report } from './global-events.ts'
import { host } from './host.ts'
import { defineOperation } from './interface.ts'
import { apply, trunc } from './primordials.ts'
import { requireArguments } from './webidl.ts'

const SETTLED = Promise.resolve()
const MAX_DELAY_MS = 2 ** 31 - 1

/** Code in a string is evaluated in the global scope, where a site may evaluate it anyway. */
// oxlint-disable-next-line no-eval -- what HTML says a timer does with text
const evaluate = eval

function clear(this: unknown, id?: unknown): void {
  requireGlobal(this)
  host.clearTimer(trunc(+(id as number)) || 0)
}

/** https://html.spec.whatwg.org/#timers */
export const timers = {
  setTimeout: starter('setTimeout', false),
  setInterval: starter('setInterval', true),
  clearTimeout: defineOperation('clearTimeout', 0, clear),
  clearInterval: defineOperation('clearInterval', 0, function (this: unknown, id?: unknown): void {
    apply(clear, this, [id])
  }),
}

/** https://html.spec.whatwg.org/#microtask-queuing */
export function queueMicrotask(callback: () => void): void {
  requireArguments(arguments.length, 1, "Failed to execute 'queueMicrotask'")
  if (typeof callback !== 'function') throw new TypeError('expected a function')
  void runSoon(callback)
}

function starter(name: string, repeat: boolean) {
  return defineOperation(
    name,
    1,
    function (this: unknown, handler: unknown, delay: unknown, ...args: unknown[]): number {
      requireGlobal(this)
      requireArguments(arguments.length, 1, `Failed to execute '${name}'`)
      const code = typeof handler === 'function' ? '' : `${handler as string}`
      return host.setTimer(delayMs(delay), repeat, () => {
        try {
          if (typeof handler === 'function') apply(handler, globalThis, args)
          else evaluate(code)
        } catch (error) {
          report(error)
        }
      })
    },
  )
}

/** WebIDL's operations of the global take no other receiver. */
function requireGlobal(receiver: unknown): void {
  if (receiver !== undefined && receiver !== null && receiver !== globalThis)
    throw new TypeError('Illegal invocation')
}

function delayMs(delay: unknown): number {
  const number = trunc(+(delay as number)) || 0
  return number > 0 && number <= MAX_DELAY_MS ? number : 0
}

async function runSoon(callback: () => void): Promise<void> {
  await SETTLED
  try {
    callback()
  } catch (error) {
    report(error)
  }
}
