import { AbortController, AbortSignal, abortState } from './abort-signal.ts'
import { FormData, formEntries } from './form-data.ts'
import { headerOf, Headers, sortedPairs } from './headers.ts'
import { showAs } from './inspect-kinds.ts'
import {
  defineProperty,
  forEach,
  getOwnPropertyDescriptor,
  push,
  reflectGet,
} from './primordials.ts'
import { ReadableStream } from './streams.ts'
import { URLSearchParams } from './url.ts'

const { ReadableByteStreamController: ByteController } = globalThis

const EVENT = `bubbles cancelable composed currentTarget defaultPrevented eventPhase srcElement target
returnValue timeStamp type`

/** What the console shows of the classes whose state is private: these attributes, in this order. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  Blob: 'size type',
  File: 'name size type',
  URL: 'href origin protocol username password host hostname port pathname hash search',
  URLPattern: 'protocol username password hostname port pathname search hash hasRegExpGroups',
  Request: 'bodyUsed headers method redirect url',
  Response: 'body bodyUsed headers ok redirected status statusText url',
  WritableStream: 'locked',
  TransformStream: 'readable writable',
  CompressionStream: 'readable writable',
  DecompressionStream: 'readable writable',
  TextEncoder: 'encoding',
  TextDecoder: 'encoding fatal ignoreBOM',
  TextEncoderStream: 'encoding readable writable',
  TextDecoderStream: 'encoding fatal ignoreBOM readable writable',
  ReadableStreamDefaultReader: 'closed',
  ReadableStreamBYOBReader: 'closed',
  WritableStreamDefaultWriter: 'closed desiredSize ready',
  ByteLengthQueuingStrategy: 'highWaterMark size',
  CountQueuingStrategy: 'highWaterMark size',
  CryptoKey: 'type extractable algorithm usages',
  Crypto: 'subtle',
  FileReader: 'error readyState result',
  Performance: 'timeOrigin',
  PerformanceMark: 'name entryType startTime duration detail',
  PerformanceMeasure: 'name entryType startTime duration detail',
  Event: EVENT,
  CustomEvent: `${EVENT} detail`,
  ErrorEvent: `${EVENT} message filename lineno colno error`,
  MessageEvent: `${EVENT} data origin lastEventId`,
  CloseEvent: `${EVENT} wasClean code reason`,
  ProgressEvent: `${EVENT} lengthComputable loaded total`,
  PromiseRejectionEvent: `${EVENT} promise reason`,
}

for (const [name, attributes] of Object.entries(ATTRIBUTES)) {
  const shown: unknown = getOwnPropertyDescriptor(globalThis, name)?.value
  if (typeof shown === 'function')
    showAs(shown as unknown as { readonly prototype: object }, pick(attributes.split(/\s+/)))
}
showAs(ReadableStream, (stream) => ({
  locked: stream.locked,
  state: reflectGet(stream, '_state') ?? 'readable',
  supportsBYOB: reflectGet(stream, '_readableStreamController') instanceof ByteController,
}))
showAs(Headers, combinedHeaders, { isLabelled: true })
showAs(FormData, (form) => Object.fromEntries(formEntries(form)), { isLabelled: true })
showAs(URLSearchParams, (parameters) => entriesOf(parameters))
showAs(AbortController, pick(['signal']))
showAs(AbortSignal, (signal) => {
  const { aborted, reason } = abortState(signal)
  return { aborted, reason, onabort: reflectGet(signal, 'onabort') ?? null }
})

/** A cookie that is set has a line of its own on the wire, but not here. */
function combinedHeaders(headers: Headers): object {
  const shown = {}
  forEach(sortedPairs(headers), ([name]) =>
    defineProperty(shown, name, {
      value: headerOf(headers, name),
      enumerable: true,
      configurable: true,
    }),
  )
  return shown
}

function pick(names: readonly string[]): (value: object) => object {
  return (value) => {
    const shown = {}
    forEach(names, (name) =>
      defineProperty(shown, name, { value: reflectGet(value, name), enumerable: true }),
    )
    return shown
  }
}

// oxlint-disable-next-line typescript/unbound-method -- called with its receiver below
const eachParameter = URLSearchParams.prototype.forEach

function entriesOf(parameters: URLSearchParams): object {
  const entries: [string, string][] = []
  Reflect.apply(eachParameter, parameters, [
    (value: string, name: string) => push(entries, [name, value]),
  ])
  return entries
}
