import { once } from 'node:events'
import { type IncomingHttpHeaders, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ClientApp extends AsyncDisposable {
  readonly origin: string
  readonly redirectUri: string
  /** What browsers told it of where they came from, visit by visit. */
  readonly visits: readonly { readonly url: URL; readonly headers: IncomingHttpHeaders }[]
}

/** An application on an origin of its own: one page, which says where the browser has arrived. */
export async function startClientApp(): Promise<ClientApp> {
  const visits: { url: URL; headers: IncomingHttpHeaders }[] = []
  const server = createServer((request, response) => {
    visits.push({ url: new URL(request.url ?? '/', 'http://localhost'), headers: request.headers })
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      '<!doctype html><html lang="en"><title>The app</title><link rel="icon" href="data:,"><h1>The app</h1></html>',
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    redirectUri: `${origin}/callback`,
    visits,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
