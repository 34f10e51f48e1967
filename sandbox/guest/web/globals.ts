// First, because these two libraries look at load time for what the others put on the global.
import './url.ts'
import './streams.ts'
import { atob, btoa } from './base64.ts'
import './built-ins.ts'
import './compression-streams.ts'
import { console } from './console.ts'
import { crypto } from './crypto.ts'
import { Deno } from './deno.ts'
import './broadcast-channel.ts'
import './message-port.ts'
import './performance-observer.ts'
import './stream-transfer.ts'
import { fetch } from './fetch.ts'
import './file-reader.ts'
import { reportError } from './global-events.ts'
import { host } from './host.ts'
import { defineAttribute, defineGlobal, defineOperation } from './interface.ts'
import { navigator } from './navigator.ts'
import { performance } from './performance.ts'
import './url-pattern.ts'
import { structuredClone } from './structured-clone.ts'
import { queueMicrotask, timers } from './timers.ts'
// Last, because it looks for the classes on the global.
import './inspect-views.ts'

const operations = {
  ...timers,
  atob,
  btoa,
  crypto,
  fetch: defineOperation('fetch', 1, fetch),
  performance,
  queueMicrotask,
  reportError,
  structuredClone,
}

defineAttribute('self', globalThis)
defineGlobal('name', '', { enumerable: true })
// Where the metadata of decorators is kept; V8 has no such symbol yet.
if (!Object.hasOwn(Symbol, 'metadata'))
  Object.defineProperty(Symbol, 'metadata', { value: Symbol('Symbol.metadata') })
defineAttribute('navigator', navigator)
defineGlobal('console', console)
defineGlobal('Deno', Deno)
for (const [name, value] of Object.entries(operations)) {
  if (typeof value === 'function')
    Object.defineProperty(value, 'name', { value: name, configurable: true })
  defineGlobal(name, value, { enumerable: true })
}
/** What the call runtime, which loads next, takes away from the global again. */
Object.defineProperty(globalThis, '__croft', { value: { host }, configurable: true })

/** V8's own, which no standard has. */
Reflect.deleteProperty(Intl, 'v8BreakIterator')
