import { AbortController, AbortSignal, abortState } from './abort-signal.ts'
import { Blob, File } from './blob.ts'
import { CryptoKey } from './crypto-key.ts'
import { Event } from './event.ts'
import { FormData, formEntries } from './form-data.ts'
import { Headers, sortedPairs } from './headers.ts'
import { showAs } from './inspect-kinds.ts'
import { defineProperty, forEach, reflectGet } from './primordials.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { ReadableStream, WritableStream } from './streams.ts'
import { URL, URLSearchParams } from './url.ts'

/** What the console shows of the classes whose state is private. */
showAs(Headers, (headers) => Object.fromEntries(sortedPairs(headers)))
showAs(FormData, (form) => Object.fromEntries(formEntries(form)))
showAs(URLSearchParams, (parameters) => Object.fromEntries(parameters))
showAs(ReadableStream, pick('locked'))
showAs(WritableStream, pick('locked'))
showAs(URL, pick('href'))
showAs(Blob, pick('size', 'type'))
showAs(File, pick('name', 'size', 'type', 'lastModified'))
showAs(AbortController, pick('signal'))
showAs(AbortSignal, (signal) => {
  const { aborted, reason } = abortState(signal)
  return aborted ? { aborted, reason } : { aborted }
})
showAs(CryptoKey, pick('type', 'extractable', 'algorithm', 'usages'))
showAs(Event, pick('type', 'cancelable', 'defaultPrevented'))
showAs(Request, pick('method', 'url', 'headers', 'bodyUsed'))
showAs(Response, pick('status', 'statusText', 'ok', 'headers', 'url', 'bodyUsed'))

function pick(...names: string[]): (value: object) => object {
  return (value) => {
    const shown = {}
    forEach(names, (name) =>
      defineProperty(shown, name, { value: reflectGet(value, name), enumerable: true }),
    )
    return shown
  }
}
