import './dom-exception-global.ts'
import './inspect-views.ts'
import { AbortController, AbortSignal } from './abort-signal.ts'
import { atob, btoa } from './base64.ts'
import { Blob, File } from './blob.ts'
import { console } from './console.ts'
import { CryptoKey } from './crypto-key.ts'
import { Crypto, crypto } from './crypto.ts'
import { Deno } from './deno.ts'
import { TextDecoderStream, TextEncoderStream } from './encoding-streams.ts'
import { TextDecoder, TextEncoder } from './encoding.ts'
import { EventTarget } from './event-target.ts'
import { CustomEvent, ErrorEvent, Event, PromiseRejectionEvent } from './event.ts'
import { fetch } from './fetch.ts'
import { FormData } from './form-data.ts'
import { globalEvents } from './global-events.ts'
import { Headers } from './headers.ts'
import { host } from './host.ts'
import { defineGlobals, defineOperation } from './interface.ts'
import { Navigator, navigator } from './navigator.ts'
import { Performance, performance } from './performance.ts'
import { reportError } from './report-error.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { streamInterfaces } from './streams.ts'
import { structuredClone } from './structured-clone.ts'
import { SubtleCrypto } from './subtle.ts'
import { queueMicrotask, timers } from './timers.ts'
import { URL, URLSearchParams } from './url.ts'

defineGlobals(
  {
    AbortController,
    AbortSignal,
    Blob,
    Crypto,
    CryptoKey,
    CustomEvent,
    ErrorEvent,
    Event,
    EventTarget,
    File,
    FormData,
    Headers,
    Navigator,
    Performance,
    PromiseRejectionEvent,
    Request,
    Response,
    SubtleCrypto,
    TextDecoder,
    TextDecoderStream,
    TextEncoder,
    TextEncoderStream,
    URL,
    URLSearchParams,
    ...streamInterfaces,
    console,
    Deno,
  },
  'interface',
)
defineGlobals(
  {
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
  },
  'operation',
)
/** What the call runtime, which loads next, takes away from the global again. */
Object.defineProperty(globalThis, '__croft', { value: { host }, configurable: true })
