import { Agent, request } from 'node:http'

import type { Answer } from './answer.ts'

export interface Endpoint extends AsyncDisposable {
  call(action: string, body: object): Promise<Answer>
}

/** Speaks DynamoDB's protocol to what listens on a port of this machine. */
export function endpointAt(port: number): Endpoint {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  return {
    call: (action, body) => send({ port, agent, action, body }),
    async [Symbol.asyncDispose]() {
      agent.destroy()
    },
  }
}

interface Call {
  readonly port: number
  readonly agent: Agent
  readonly action: string
  readonly body: object
}

function send({ port, agent, action, body }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, agent, method: 'POST', headers: headersOf(action) },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve(answerOf(response.statusCode, Buffer.concat(chunks).toString('utf8'))),
        )
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

const headersOf = (action: string): Record<string, string> => ({
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-target': `DynamoDB_20120810.${action}`,
  'x-amz-date': '20260101T000000Z',
  authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=a',
})

function answerOf(status: number | undefined, text: string): Answer {
  const body: Record<string, unknown> = JSON.parse(text)
  if (status === 200) return { ok: true, body }
  const { __type: type, message = body['Message'] } = body
  if (typeof type !== 'string' || typeof message !== 'string') throw new Error(text)
  return { ok: false, type: type.split('#').at(-1) ?? type, message }
}
