import { AbortController, AbortSignal } from './abort-signal.ts'
import { Blob, File } from './blob.ts'
import { CryptoKey } from './crypto-key.ts'
import { Event } from './event.ts'
import { FormData, formEntries } from './form-data.ts'
import { Headers, sortedPairs } from './headers.ts'
import { showAs } from './inspect-kinds.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { ReadableStream, WritableStream } from './streams.ts'
import { URL, URLSearchParams } from './url.ts'

/** What the console shows of the classes whose state is private. */
showAs(Headers, (headers) => Object.fromEntries(sortedPairs(headers)))
showAs(FormData, (form) => Object.fromEntries(formEntries(form)))
showAs(URLSearchParams, (parameters) => Object.fromEntries(parameters))
showAs(ReadableStream, ({ locked }) => ({ locked }))
showAs(WritableStream, ({ locked }) => ({ locked }))
showAs(URL, ({ href }) => ({ href }))
showAs(Blob, ({ size, type }) => ({ size, type }))
showAs(File, ({ lastModified, name, size, type }) => ({ name, size, type, lastModified }))
showAs(AbortController, ({ signal }) => ({ signal }))
showAs(AbortSignal, ({ aborted, reason }) => (aborted ? { aborted, reason } : { aborted }))
showAs(CryptoKey, ({ algorithm, extractable, type, usages }) => ({
  type,
  extractable,
  algorithm,
  usages,
}))
showAs(Event, ({ cancelable, defaultPrevented, type }) => ({ type, cancelable, defaultPrevented }))
showAs(Request, ({ bodyUsed, headers, method, url }) => ({ method, url, headers, bodyUsed }))
showAs(Response, ({ bodyUsed, headers, ok, status, statusText, url }) => ({
  status,
  statusText,
  ok,
  headers,
  url,
  bodyUsed,
}))
