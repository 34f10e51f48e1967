import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

const TIMEOUT_MS = 30_000
const agent = new Agent({ keepAlive: true, maxSockets: 8 })

export interface HttpCall {
  readonly origin: string
  readonly host: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly token?: string
  /** Sent as JSON. */
  readonly body?: unknown
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** From the request to the last byte of the answer. */
  readonly ms: number
}

export async function httpCall({ origin, method, path, ...call }: HttpCall): Promise<HttpAnswer> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body)
  const startMs = performance.now()
  const outgoing = request(new URL(path, origin), {
    agent,
    method,
    timeout: TIMEOUT_MS,
    headers: {
      host: call.host,
      ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  })
  outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path} timed out`)))
  const response = await new Promise<Parameters<typeof text>[0] & { statusCode?: number }>(
    (resolve, reject) => {
      outgoing.on('response', resolve)
      outgoing.on('error', reject)
      outgoing.end(body)
    },
  )
  const answer = await text(response)
  return { status: response.statusCode ?? 0, text: answer, ms: performance.now() - startMs }
}

/** The answer as JSON; rejects unless it is 200, with what was answered instead. */
export async function jsonCall<Body>(call: HttpCall): Promise<Body> {
  const answer = await httpCall(call)
  if (answer.status !== 200) {
    throw new Error(`${call.method} ${call.path} answered ${answer.status}: ${answer.text}`)
  }
  const body: Body = JSON.parse(answer.text)
  return body
}
