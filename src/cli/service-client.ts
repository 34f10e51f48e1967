import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

import type { Static, TArray, TNull, TObject, TSchema, TString, TUnion } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isJsonObject } from '#base/json-object.ts'
import { sourceFaults } from '#base/source-faults.ts'

import { CommandError, ServiceRefusal } from './errors.ts'

const TIMEOUT_MS = 30_000

/** Of silence: a large site takes its time before the first byte. */
const STREAM_TIMEOUT_MS = 15 * 60_000

/** Items. */
const PAGE = 100
const ADVICE: Readonly<Record<string, string>> = {
  RouteNotFound: ': where the service has an OPERATOR_PORT, say where that is with --operator-url',
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** What a call is sent with, for errors about it. */
export interface Credential {
  readonly kind: 'operator key' | 'deploy token'
  /** Where it was found: `--operator-key`, `CROFT_DEPLOY_TOKEN`, or a file. */
  readonly source: string
}

export interface Connection {
  readonly base: URL
  /** Where `/portal` is: elsewhere where the operator has a listener of their own. */
  readonly portal: URL
  /** The operator's key, or a deploy token. */
  readonly bearer: string
  readonly credential: Credential
}

export interface CallOptions {
  readonly body?: unknown
  readonly bytes?: Uint8Array
  /** A body that is JSON text already. */
  readonly json?: string
  readonly timeoutMs?: number
}

interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

interface StreamOptions extends Pick<HttpRequest, 'upload'> {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface SiteCallOptions extends CallOptions {
  readonly token?: string
}

/** Which items of a list. */
interface ItemRange {
  /** Of the query. */
  readonly filters?: Readonly<Record<string, string>>
  readonly atMost?: number
}

interface HttpRequest {
  /** Where to connect. Only scheme, host and port count. */
  readonly base: URL
  /** The Host header names the site; that of `base` when left out. */
  readonly host?: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  /** Instead of a body: one that is sent as it is read. */
  readonly upload?: { readonly sizeBytes: number; readonly bytes: AsyncIterable<Uint8Array> }
  readonly timeoutMs: number
}

interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** Speaks to the running service: as the operator to `/portal/api`, as anyone to a site's own routes. */
export class ServiceClient {
  readonly #connect: () => Promise<Connection>
  #connection: Promise<Connection> | undefined

  /** `connect` runs with the first call, so that commands without a service need none. */
  constructor(connect: () => Promise<Connection>) {
    this.#connect = connect
  }

  /** Returns the answer's JSON. Throws a `ServiceRefusal` with the service's own message. */
  async portal(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const { portal, bearer, credential } = await this.#connected()
    const headers = { authorization: `Bearer ${bearer}` }
    const request = { method, path: `/portal/api${path}`, headers }
    const answer = await this.#send(portal, request, options)
    if (answer.status < 400) return answerJson(answer)
    throw refusal(answer, credential)
  }

  /** Returns an answer of that shape. Throws `CommandError` for any other. */
  async portalAs<Schema extends TSchema>(
    schema: Schema,
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Static<Schema>> {
    const answer = await this.portal(method, path, options)
    if (Value.Check(schema, answer)) return answer
    throw new CommandError('The service answered in a way this tool does not know: update both')
  }

  /** The response as a stream. A caller that does not read it must destroy it. */
  async portalStream(
    method: string,
    path: string,
    { body, upload, headers = {} }: StreamOptions,
  ): Promise<IncomingMessage> {
    const { portal, bearer, credential } = await this.#connected()
    const request = {
      base: portal,
      method,
      path: `/portal/api${path}`,
      headers: { ...headers, ...typeOf({ body }), authorization: `Bearer ${bearer}` },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs: STREAM_TIMEOUT_MS,
      ...(upload === undefined ? {} : { upload }),
    }
    const response = await reach(portal, () => httpResponse(request))
    const { statusCode: status = 0 } = response
    if (status < 400) return response
    throw refusal({ status, text: await text(response) }, credential)
  }

  /** All items of a list, or the first of them, page by page; `path` has no query. */
  async portalItems<Item extends TSchema>(
    page: TObject<{ items: TArray<Item>; nextToken: TUnion<[TString, TNull]> }>,
    path: string,
    { filters = {}, atMost = Infinity }: ItemRange = {},
  ): Promise<Static<Item>[]> {
    const items: Static<Item>[] = []
    for (let token: string | null = ''; token !== null && items.length < atMost;) {
      const limit = String(Math.min(PAGE, atMost - items.length))
      const next = token === '' ? {} : { nextToken: token }
      const query: string = new URLSearchParams({ ...filters, limit, ...next }).toString()
      const found: { items: Static<Item>[]; nextToken: string | null } = await this.portalAs(
        page,
        'GET',
        `${path}?${query}`,
      )
      items.push(...found.items)
      token = found.nextToken
    }
    return items
  }

  /** Where sites are called: the address that requests are sent to, whatever name they carry. */
  async address(): Promise<string> {
    const { base } = await this.#connected()
    return base.origin
  }

  /** Calls the site with that domain and returns whatever it answers. */
  async site(
    domain: string,
    method: string,
    path: string,
    options: SiteCallOptions = {},
  ): Promise<HttpAnswer> {
    const { token } = options
    const { base } = await this.#connected()
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return this.#send(base, { method, path, host: domain, headers }, options)
  }

  /** What a signed URL of the site leads to, as it comes. The object store may be elsewhere. `missing` is the message of a 404. */
  async *download(url: string, missing?: string): AsyncGenerator<Uint8Array, void, undefined> {
    const { place, request } = await this.#signed(url)
    const response = await reach(place, () =>
      httpResponse({ ...request, method: 'GET', headers: {}, body: undefined }),
    )
    if (response.statusCode === 404 && missing !== undefined) {
      response.resume()
      throw new CommandError(missing)
    }
    if (response.statusCode !== 200) {
      throw new CommandError(`${await objectError(response)} instead of the bytes`)
    }
    try {
      yield* response
    } catch (error) {
      throw new CommandError('The service broke off: not all of the bytes have come', {
        cause: error,
      })
    }
  }

  /** Sends bytes to a signed URL of the site. */
  async upload(
    { method, url, headers }: SignedRequest,
    upload: NonNullable<HttpRequest['upload']>,
  ): Promise<void> {
    const { place, request } = await this.#signed(url)
    const response = await reach(place, () =>
      httpResponse({ ...request, method, headers, body: undefined, upload }),
    )
    if ((response.statusCode ?? 500) >= 300) throw new CommandError(await objectError(response))
    response.resume()
  }

  /** Where a signed URL is reached: names of sites need not resolve here, an object store of its own does. */
  async #signed(url: string) {
    const { origin, hostname: host, pathname, search, searchParams } = new URL(url)
    const { base } = await this.#connected()
    const path = pathname + search
    const isOfService = !searchParams.has('X-Amz-Signature')
    const place = isOfService ? base : new URL(origin)
    return {
      place,
      request: {
        base: place,
        path,
        timeoutMs: STREAM_TIMEOUT_MS,
        ...(isOfService ? { host } : {}),
      },
    }
  }

  #send(
    base: URL,
    request: Pick<HttpRequest, 'method' | 'path' | 'host' | 'headers'>,
    options: CallOptions,
  ): Promise<HttpAnswer> {
    const { body, bytes, json, timeoutMs = TIMEOUT_MS } = options
    const headers = { ...request.headers, ...typeOf(options) }
    return reach(base, () =>
      httpRequest({
        ...request,
        base,
        headers,
        body: json ?? (body === undefined ? bytes : JSON.stringify(body)),
        timeoutMs,
      }),
    )
  }

  #connected(): Promise<Connection> {
    this.#connection ??= this.#connect()
    return this.#connection
  }
}

async function reach<Reached>(base: URL, exchange: () => Promise<Reached>): Promise<Reached> {
  try {
    return await exchange()
  } catch (error) {
    throw new CommandError(unreachable(base, error), { cause: error })
  }
}

/** What an object store says of a refused request: an error of ours, or XML of S3. */
async function objectError(response: IncomingMessage): Promise<string> {
  const said = await text(response)
  const [, code] = /<Code>([^<]*)<\/Code>/.exec(said) ?? /"code":"([^"]*)"/.exec(said) ?? []
  return `The service answered ${response.statusCode}${code === undefined ? '' : ` ${code}`}`
}

/** The path of a site's routes, by its domain or id. */
export const sitePath = (site: string, rest = ''): string =>
  `/sites/${encodeURIComponent(site)}${rest}`

/** Returns the JSON of an answer, or undefined for an empty one. */
export function answerJson(answer: HttpAnswer): unknown {
  if (answer.text === '') return undefined
  try {
    return JSON.parse(answer.text)
  } catch (error) {
    throw new CommandError(
      `The answer (${answer.status}) is not JSON: is this really the address of a Croft?`,
      { cause: error },
    )
  }
}

function typeOf({ body, bytes, json }: CallOptions): Record<string, string> {
  if (body !== undefined || json !== undefined) return { 'content-type': 'application/json' }
  return bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }
}

function refusal(answer: HttpAnswer, credential: Credential): CommandError {
  const error = at(answerJson(answer), 'error')
  const [code, message] = [at(error, 'code'), at(error, 'message')]
  if (typeof code !== 'string' || typeof message !== 'string') {
    return new CommandError(`The service answered ${answer.status} without a reason`)
  }
  const advice = code in SENT ? sentWith(credential) : (ADVICE[code] ?? '')
  return new ServiceRefusal(
    [`${code}: ${message}${advice}`, ...sourceFaults(error)].join('\n'),
    error,
  )
}

/** Codes that are about who calls. */
const SENT: Readonly<Record<string, true>> = { Unauthorized: true, Forbidden: true }

const sentWith = ({ kind, source }: Credential): string =>
  kind === 'operator key'
    ? `. This was sent with the operator key from ${source}: give another with --operator-key`
    : `. This was sent with the deploy token from ${source}: give another with --token-file, or the operator key with --operator-key`

/** The value at that path in a JSON value; undefined without one. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const name of path) found = isJsonObject(found) ? found[name] : undefined
  return found
}

function unreachable(base: URL, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const why = code ?? (error instanceof Error ? error.message : String(error))
  return `No Croft answers at ${base.origin} (${why}): start it (npm start, or systemctl start croft), or say where it is with --url or --operator-url`
}

/** One request over node:http, because `fetch` cannot set the Host header. Rejects with Node's own error. */
async function httpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const response = await httpResponse(request)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytesOf(response)) {
    size += chunk.byteLength
    if (size > MAX_ANSWER_BYTES) throw new Error('The answer is too long')
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }
}

/** The same, with a body that is read as a stream. A caller that does not read it must destroy it. */
function httpResponse(request: HttpRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { base, host, body } = request
  const open = base.protocol === 'https:' ? tlsRequest : plainRequest
  let answered: IncomingMessage | undefined
  const outgoing = open(
    {
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port === '' ? undefined : Number(base.port),
      ...(host === undefined ? {} : { servername: host }),
      method: request.method,
      path: request.path,
      headers: {
        ...request.headers,
        host: hostHeader(base, host),
        ...lengthOf(request),
      },
      timeout: request.timeoutMs,
    },
    (response) => {
      answered = response
      resolve(response)
    },
  )
  outgoing.on('timeout', () => {
    // What came is not read yet: then it is not the service that is slow.
    if (answered !== undefined && answered.readableLength > 0) return
    const waiting = answered ?? outgoing
    waiting.destroy(new Error(`No answer in ${request.timeoutMs} ms`))
  })
  outgoing.on('error', reject)
  if (request.upload === undefined) outgoing.end(body)
  else {
    // An error response may come before the end of the upload: then it counts, not that the rest was not read.
    pipeline(request.upload.bytes, outgoing).catch((error: unknown) => {
      if (answered === undefined) reject(error)
    })
  }
  return promise
}

function lengthOf({ body, upload }: HttpRequest): Record<string, number> {
  const length = upload?.sizeBytes ?? (body === undefined ? undefined : Buffer.byteLength(body))
  return length === undefined ? {} : { 'content-length': length }
}

const bytesOf = (response: IncomingMessage): AsyncIterable<Buffer> => response

/** The site's name with the port that the connection goes to. */
function hostHeader(base: URL, host: string | undefined): string {
  if (host === undefined) return base.host
  return base.port === '' ? host : `${host}:${base.port}`
}
