import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runInThisContext } from 'node:vm'

import type { AnswerCall } from './guest.ts'

/** Runs the body of an async function on Node's own globals, and gives what it returned by way of JSON. */
export async function runOnNode(body: string): Promise<unknown> {
  const value: unknown = await runInThisContext(`(async () => {${body}\n})`)()
  return (JSON.parse(JSON.stringify({ value })) as { value?: unknown }).value
}

/** Sends the request with Node's fetch: what the egress gateway does, without its rules. */
export const sendWithNode: AnswerCall = async (_name, argument) => {
  const { bodyBase64, headers, method, redirect, url } = JSON.parse(argument) as {
    method: string
    url: string
    headers: [string, string][]
    bodyBase64?: string
    redirect: 'follow' | 'manual' | 'error'
  }
  const body = bodyBase64 === undefined ? null : Buffer.from(bodyBase64, 'base64')
  const response = await fetch(url, { method, headers, body, redirect })
  return JSON.stringify({
    status: response.status,
    statusText: response.statusText,
    url: response.url,
    redirected: response.redirected,
    headers: [...response.headers],
    bodyBase64: Buffer.from(await response.arrayBuffer()).toString('base64'),
  })
}

/** An HTTP server that says what it received; `/to/echo` redirects, `/status/204` answers with that status. */
export async function startEcho(): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? '/'
      const status = Number(/^\/status\/(\d+)/.exec(path)?.[1] ?? 200)
      if (path === '/to/echo') {
        response.writeHead(302, { location: '/echo' }).end()
        return
      }
      response.writeHead(status, { 'content-type': 'application/json', 'x-echo': 'yes' })
      const { method } = request
      const type = request.headers['content-type'] ?? null
      const mine = request.headers['x-mine'] ?? null
      const body = Buffer.concat(chunks).toString('base64')
      response.end(status === 204 ? undefined : JSON.stringify({ method, path, type, mine, body }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
