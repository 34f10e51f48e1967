import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'

export interface HttpRequest {
  /** Where to connect. Only scheme, host and port count. */
  readonly base: URL
  /** The Host header names the site; that of `base` when left out. */
  readonly host?: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  readonly timeoutMs: number
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** One request over node:http, because `fetch` cannot set the Host header. Rejects with Node's own error. */
export function httpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const { base, host, body } = request
  const open = base.protocol === 'https:' ? tlsRequest : plainRequest
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
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      timeout: request.timeoutMs,
    },
    (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.byteLength
        chunks.push(chunk)
        if (size > MAX_ANSWER_BYTES) outgoing.destroy(new Error('The answer is too long'))
      })
      response.on('end', () => {
        const { statusCode: status = 0 } = response
        resolve({ status, text: Buffer.concat(chunks).toString() })
      })
      response.on('error', reject)
    },
  )
  outgoing.on('timeout', () => outgoing.destroy(new Error(`No answer in ${request.timeoutMs} ms`)))
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

/** The site's name with the port that the connection goes to. */
function hostHeader(base: URL, host: string | undefined): string {
  if (host === undefined) return base.host
  return base.port === '' ? host : `${host}:${base.port}`
}
