import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { type Readable, pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

import { AppError } from '#base/app-error.ts'
import type { MemoryLease } from '#base/memory-budget.ts'

import { portOf } from './allow-list.ts'
import { Base64Text } from './base64-text.ts'

/** This much of a response is read without a reservation: most are shorter. */
const SMALL_BYTES = 64 * 1024

const NO_BODY: ReadResponse = { bodyBase64: '', heldBytes: 0 }

export interface HttpExchange extends ReadRules {
  readonly url: URL
  /** The checked address; nothing is resolved again. */
  readonly address: string
  readonly method: string
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: Uint8Array | undefined
  /** PEM; beside the system's, for tests. */
  readonly ca?: string
}

export interface HttpResponse extends ReadResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [string, string])[]
}

interface ReadRules {
  readonly maxBytes: number
  readonly memory: MemoryLease | undefined
  readonly signal: AbortSignal
}

interface ReadResponse {
  readonly bodyBase64: string
  /** The bytes that it has reserved. */
  readonly heldBytes: number
}

/** One request to one address, decoded and bounded. */
export async function sendHttpRequest(options: HttpExchange): Promise<HttpResponse> {
  const response = await send(options)
  const encoding = String(response.headers['content-encoding'] ?? '').toLowerCase()
  const hasBody =
    options.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304
  const sizeBytes = isDecoded(encoding) ? undefined : response.headers['content-length']
  const read = hasBody
    ? await readResponse(decoded(response, encoding), sizeBytes, options)
    : NO_BODY
  response.destroy()
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: pairsOf(response.rawHeaders, isDecoded(encoding)),
    ...read,
  }
}

function send({
  url,
  address,
  method,
  headers,
  body,
  signal,
  ca,
}: HttpExchange): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const secure = url.protocol === 'https:'
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const options = {
    hostname: address,
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    method,
    agent: false as const,
    signal,
    headers: {
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'Croft',
      ...Object.fromEntries([...headers].map(([key, values]) => [key, values.join(', ')])),
      host: url.host,
      ...(body === undefined && method !== 'POST' && method !== 'PUT'
        ? {}
        : { 'content-length': String(body?.byteLength ?? 0) }),
    },
    // SNI carries names only; a literal address is checked against the certificate itself.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    // Said, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would undo the default.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  }
  const request: ClientRequest = secure ? httpsRequest(options) : httpRequest(options)
  request.on('response', resolve)
  request.on('error', reject)
  request.end(body)
  return promise
}

const isDecoded = (encoding: string): boolean =>
  ['gzip', 'x-gzip', 'deflate', 'br'].includes(encoding)

function decoded(response: IncomingMessage, encoding: string): Readable {
  if (!isDecoded(encoding)) return response
  const decoder =
    encoding === 'br'
      ? createBrotliDecompress()
      : encoding === 'deflate'
        ? createInflate()
        : createGunzip()
  // The reader of the decoder receives every error.
  return pipeline(response, decoder, () => {})
}

/** Leaves out the headers that describe the transfer and not the content. */
function pairsOf(raw: readonly string[], decodedBody: boolean): (readonly [string, string])[] {
  const dropped = new Set(['connection', 'keep-alive', 'transfer-encoding'])
  if (decodedBody) for (const name of ['content-encoding', 'content-length']) dropped.add(name)
  const pairs: (readonly [string, string])[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    if (!dropped.has(name)) pairs.push([name, raw[index + 1] ?? ''])
  }
  return pairs
}

/**
 * Counts what comes out of the decoder: a few bytes on the wire can be gigabytes here. Memory is reserved
 * once, for all that may come: responses that each waited for a little more would block each other.
 */
async function readResponse(
  stream: Readable,
  announced: string | undefined,
  { maxBytes, memory, signal }: ReadRules,
): Promise<ReadResponse> {
  const text = new Base64Text()
  const atMost = Math.min(maxBytes, Number(announced ?? maxBytes))
  let reservedBytes = 0
  for await (const chunk of stream) {
    signal.throwIfAborted()
    const bytes = chunk as Buffer
    const sizeBytes = text.sizeBytes + bytes.byteLength
    if (sizeBytes > maxBytes) {
      stream.destroy()
      throw new Error(`the response is longer than ${maxBytes} bytes`)
    }
    if (memory && reservedBytes === 0 && sizeBytes > SMALL_BYTES) {
      if (!(await memory.reserve(atMost, signal))) throw noMemory()
      reservedBytes = atMost
    }
    text.add(bytes)
  }
  const heldBytes = Math.min(reservedBytes, text.sizeBytes)
  memory?.giveBack(reservedBytes - heldBytes)
  return { bodyBase64: text.end(), heldBytes }
}

const noMemory = (): AppError =>
  new AppError(
    'TooManyRequests',
    'fetch: the responses to this site’s calls are too large together, and none of them made room in time: await some of them before you ask for more',
    { fields: { retryable: true } },
  )
