import { decodeBase64, encodeBase64 } from './base64.ts'
import { blobAt } from './blob-urls.ts'
import { blobBytes } from './blob.ts'
import type { AbortState } from './event-target.ts'
import { pairsOf } from './headers.ts'
import { host } from './host.ts'
import type { Pair } from './pairs.ts'
import {
  indexOf,
  isArray,
  join,
  jsonParse,
  jsonQuote,
  map,
  push,
  slice,
  startsWith,
} from './primordials.ts'
import { messageOf, Request } from './request.ts'
import { receivedResponse } from './response.ts'
import type { Response } from './response.ts'
import { requireArguments } from './webidl.ts'

type RequestMessage = NonNullable<ReturnType<typeof messageOf>>

/** The host's answer, as text of JSON: the fields of the egress gateway's response. */
interface Answer {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly redirected: boolean
  readonly headers: readonly Pair<string>[]
  readonly bodyBase64: string
}

/** https://fetch.spec.whatwg.org/#fetch-method, through the host's gateway: the answer comes whole. */
export async function fetch(input: unknown, init?: unknown): Promise<Response> {
  requireArguments(arguments.length, 1, "Failed to execute 'fetch'")
  const message = messageOf(new Request(input, init))
  if (message === undefined) throw new TypeError('fetch failed')
  const { follows, url } = message.head
  if (startsWith(url, 'blob:')) return fetchBlob(message)
  if (!startsWith(url, 'http:') && !startsWith(url, 'https:'))
    throw new TypeError(`Url scheme '${slice(url, 0, indexOf(url, ':'))}' not supported`)
  requireLive(follows)
  const argument = await requestJson(message)
  requireLive(follows)
  const answer = parseAnswer(await orAbort(askHost(argument), follows))
  const bytes = decodeBase64(answer.bodyBase64)
  if (bytes === undefined) throw new TypeError('fetch failed: the host sent no readable body')
  return receivedResponse(answer, bytes)
}

/** https://fetch.spec.whatwg.org/#scheme-fetch, of what this context has made a URL of. */
function fetchBlob({ head }: RequestMessage): Response {
  const blob = blobAt(head.url)
  if (blob === undefined || head.method !== 'GET')
    throw new TypeError(
      `fetch failed: "${head.url}" is no blob that can be read with ${head.method}`,
    )
  requireLive(head.follows)
  const headers: Pair<string>[] = [['content-length', `${blob.size}`]]
  if (blob.type !== '') push(headers, ['content-type', blob.type])
  const answer = { status: 200, statusText: 'OK', url: head.url, redirected: false, headers }
  return receivedResponse(answer, blobBytes(blob))
}

/** Written by hand from primitives, so that no `toJSON` of the site has a say. */
async function requestJson({ body, head }: RequestMessage): Promise<string> {
  const { choices, headers, method, url } = head
  const bytes = body.empty ? undefined : await body.bytes()
  const bodyJson = bytes === undefined ? '' : `"bodyBase64":"${encodeBase64(bytes)}",`
  return `{"method":${jsonQuote(method)},"url":${jsonQuote(url)},"headers":${headersJson(pairsOf(headers))},${bodyJson}"redirect":${jsonQuote(choices.redirect)}}`
}

const headersJson = (pairs: readonly Pair<string>[]): string =>
  `[${join(
    map(pairs, (pair) => `[${jsonQuote(pair[0])},${jsonQuote(pair[1])}]`),
    ',',
  )}]`

async function askHost(argument: string): Promise<string> {
  try {
    return await host.call('fetch', argument)
  } catch (error) {
    throw new TypeError(error instanceof Error ? error.message : 'fetch failed', { cause: error })
  }
}

function requireLive(signal: AbortState | null): void {
  if (signal?.aborted) throw signal.reason
}

/** The promise, unless the signal aborts first: then its reason. The host still finishes the request. */
async function orAbort(promise: Promise<string>, signal: AbortState | null): Promise<string> {
  if (signal === null) return await promise
  return await new Promise<string>((resolve, reject) => {
    push(signal.algorithms, () => reject(signal.reason))
    void settle(promise, resolve, reject)
  })
}

async function settle(
  promise: Promise<string>,
  resolve: (value: string) => void,
  reject: (reason: unknown) => void,
): Promise<void> {
  try {
    resolve(await promise)
  } catch (error) {
    reject(error)
  }
}

function parseAnswer(text: string): Answer {
  const answer = jsonParse(text) as Partial<Answer> | null
  const { bodyBase64, headers, status } = answer ?? {}
  if (typeof status !== 'number' || !isArray(headers) || typeof bodyBase64 !== 'string')
    throw new TypeError('fetch failed: the host sent no readable answer')
  return answer as Answer
}
