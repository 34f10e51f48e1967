import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { crc32 } from 'node:zlib'

import { coralError, WireError } from './wire-error.ts'

const MAX_REQUEST_BYTES = 16 * 1024 * 1024
const JSON_TYPES = ['application/json', 'application/x-amz-json-1.0']
const API_VERSIONS = ['DynamoDB_20111205', 'DynamoDB_20120810']
const HEALTHY = 'healthy: '
const SERVICE_HOST = 'dynamodb.us-east-1.amazonaws.com'
const IP_ADDRESS = /^[\d.:[\]]*$/
const UNKNOWN_PAGE = '<UnknownOperationException/>\n'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

interface Page {
  readonly status: number
  readonly text: string
  readonly type?: string
}

/** The empty text is a body of no bytes. */
export type WireAnswer = object | ''
type Perform = (action: string, body: object, host: string) => Promise<WireAnswer>

export interface Protocol {
  readonly actions: ReadonlySet<string>
  readonly perform: Perform
  /** Called with an error that DynamoDB does not have: one of ours. */
  readonly onFault: (fault: unknown) => void
}

/** Answers one request as DynamoDB's endpoint does, from the HTTP method to the checksum of the body. */
export async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  protocol: Protocol,
): Promise<void> {
  const bytes = await readBody(incoming)
  if (bytes === undefined) {
    response.writeHead(413).end()
    return
  }
  const { method, headers } = incoming
  response.setHeader('x-amzn-requestid', requestId())
  if (headers.origin !== undefined) {
    response.setHeader('access-control-allow-origin', '*')
    if (method === 'OPTIONS') return preflight(headers, response)
  }
  const page = pageFor(incoming, bytes)
  if (page !== undefined) return send(response, page)
  const contentType = contentTypeOf(headers)
  const { status, body } = await outcome(incoming, bytes, protocol)
  const type = contentType === '' ? 'application/json' : contentType
  send(response, { status, text: body === '' ? '' : JSON.stringify(body), type })
}

/** What is answered to anything but an action; undefined for an action. */
function pageFor(incoming: IncomingMessage, bytes: Buffer): Page | undefined {
  const { method, headers } = incoming
  if (method === 'GET' && isRoot(incoming)) return { status: 200, text: health(headers) }
  const isAction = bytes.length === 0 || JSON_TYPES.includes(contentTypeOf(headers))
  return method === 'POST' && isAction ? undefined : { status: 404, text: UNKNOWN_PAGE }
}

const isRoot = ({ url = '/' }: IncomingMessage): boolean =>
  new URL(url, 'http://localhost').pathname === '/'

/** Names the host of the request; a request to an address gets DynamoDB's name. */
function health({ host = '' }: IncomingHttpHeaders): string {
  return `${HEALTHY}${IP_ADDRESS.test(host) ? SERVICE_HOST : host} `
}

/** Without its parameters; empty when there is none. */
const contentTypeOf = (headers: IncomingHttpHeaders): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''

interface Outcome {
  readonly status: number
  readonly body: unknown
}

async function outcome(
  incoming: IncomingMessage,
  bytes: Buffer,
  { actions, perform, onFault }: Protocol,
): Promise<Outcome> {
  try {
    const body = parsed(bytes)
    const action = actionOf(incoming.headers, actions)
    checkAuthorization(incoming)
    if (body === undefined) throw coralError('SerializationException')
    const { host = '' } = incoming.headers
    return { status: 200, body: await perform(action, body, host) }
  } catch (fault) {
    if (fault instanceof WireError) return { status: 400, body: fault.body }
    onFault(fault)
    const { body } = coralError('InternalFailure', 'The request processing has failed')
    return { status: 500, body }
  }
}

/** What is no JSON object in UTF-8 is a fault; no text may be one later. */
function parsed(bytes: Buffer): object | undefined {
  if (bytes.length === 0) return undefined
  let body: unknown
  try {
    body = JSON.parse(utf8.decode(bytes))
  } catch {
    throw coralError('SerializationException')
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw coralError('SerializationException')
}

function actionOf(headers: IncomingHttpHeaders, actions: ReadonlySet<string>): string {
  const [version = '', action = '', ...more] = String(headers['x-amz-target'] ?? '').split('.')
  if (API_VERSIONS.includes(version) && actions.has(action) && more.length === 0) return action
  throw coralError('UnknownOperationException')
}

/** Checks the presence and form of a signature; any signature is accepted. */
function checkAuthorization({ headers, url = '/' }: IncomingMessage): void {
  const query = new URL(url, 'http://localhost').searchParams
  const { authorization } = headers
  const isInQuery = query.has('X-Amz-Algorithm')
  if (authorization !== undefined && isInQuery) {
    throw coralError(
      'InvalidSignatureException',
      "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    )
  }
  if (isInQuery) return checkQuery(query)
  if (authorization === undefined || !authorization.trim().startsWith('AWS4-')) {
    throw coralError(
      'MissingAuthenticationTokenException',
      'Request is missing Authentication Token',
    )
  }
  checkHeader(authorization, headers)
}

function checkQuery(query: URLSearchParams): void {
  const names = ['Algorithm', 'Credential', 'Signature', 'SignedHeaders', 'Date']
  const missing = names.map((name) => `X-Amz-${name}`).filter((name) => !query.get(name))
  if (missing.length === 0) return
  const words = missing.map((name) => `AWS query-string parameters must include '${name}'. `)
  throw coralError(
    'IncompleteSignatureException',
    `${words.join('')}Re-examine the query-string parameters.`,
  )
}

function checkHeader(authorization: string, headers: IncomingHttpHeaders): void {
  const given = new Map(
    authorization
      .split(/,| /)
      .slice(1)
      .filter((part) => part !== '')
      .map((part) => {
        const [name = '', value = ''] = part.trim().split('=')
        return [name, value] as const
      }),
  )
  const words = ['Credential', 'Signature', 'SignedHeaders']
    .filter((name) => !given.get(name))
    .map((name) => `Authorization header requires '${name}' parameter. `)
  if (headers['x-amz-date'] === undefined && headers.date === undefined) {
    words.push(
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ",
    )
  }
  if (words.length === 0) return
  throw coralError(
    'IncompleteSignatureException',
    `${words.join('')}Authorization=${authorization}`,
  )
}

function preflight(headers: IncomingHttpHeaders, response: ServerResponse): void {
  for (const what of ['headers', 'method'] as const) {
    const asked = headers[`access-control-request-${what}`]
    const answered = what === 'method' ? 'methods' : what
    if (asked !== undefined) response.setHeader(`access-control-allow-${answered}`, asked)
  }
  response.writeHead(200, { 'access-control-max-age': '172800', 'content-length': '0' }).end()
}

/** With the checksum that the SDKs compare. */
function send(response: ServerResponse, { status, text, type }: Page): void {
  const bytes = Buffer.from(text, 'utf8')
  response.writeHead(status, {
    'x-amz-crc32': String(crc32(bytes)),
    ...(type !== undefined && { 'content-type': type }),
    'content-length': String(bytes.length),
  })
  response.end(bytes)
}

/** Undefined when it is larger than DynamoDB reads; the rest is read and dropped. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_REQUEST_BYTES) chunks.push(chunk)
  }
  return size > MAX_REQUEST_BYTES ? undefined : Buffer.concat(chunks)
}

/** 52 digits and capitals, as DynamoDB's. */
const requestId = (): string =>
  randomBytes(39).toString('base64').toUpperCase().replaceAll(/[+/]/g, '0')
