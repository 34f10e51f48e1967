// First, because these two libraries look at load time for what the others put on the global.
import './url.ts'
import './streams.ts'
import './inspect-views.ts'
import { atob, btoa } from './base64.ts'
import { console } from './console.ts'
import { crypto } from './crypto.ts'
import { Deno } from './deno.ts'
import { globalEvents, reportError } from './event-target.ts'
import { fetch } from './fetch.ts'
import { host } from './host.ts'
import { defineGlobal, defineOperation } from './interface.ts'
import { navigator } from './navigator.ts'
import { performance } from './performance.ts'
import './url-pattern.ts'
import { structuredClone } from './structured-clone.ts'
import { queueMicrotask, timers } from './timers.ts'

const operations = {
  ...globalEvents,
  ...timers,
  atob,
  btoa,
  crypto,
  fetch: defineOperation('fetch', 1, fetch),
  navigator,
  performance,
  queueMicrotask,
  reportError,
  self: globalThis,
  structuredClone,
}

defineGlobal('console', console)
defineGlobal('Deno', Deno)
for (const [name, value] of Object.entries(operations)) {
  if (typeof value === 'function')
    Object.defineProperty(value, 'name', { value: name, configurable: true })
  defineGlobal(name, value, { enumerable: true })
}
/** What the call runtime, which loads next, takes away from the global again. */
Object.defineProperty(globalThis, '__croft', { value: { host }, configurable: true })
