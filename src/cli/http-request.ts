import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'

export interface HttpRequest {
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

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** One request over node:http, because `fetch` cannot set the Host header. Rejects with Node's own error. */
export async function httpRequest(request: HttpRequest): Promise<HttpAnswer> {
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

/** The same, with a body that is read as it comes. Whoever does not read it must destroy it. */
export function httpResponse(request: HttpRequest): Promise<IncomingMessage> {
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
    // A refusal may come before the end of the upload: then the answer counts, not that nobody took the rest.
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
