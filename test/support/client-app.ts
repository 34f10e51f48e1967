import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export interface ClientApp extends AsyncDisposable {
  readonly origin: string
  readonly redirectUri: string
  /** What browsers told it of where they came from, visit by visit. */
  readonly visits: readonly { readonly url: URL; readonly headers: IncomingHttpHeaders }[]
}

const PAGE = `<!doctype html>
<html lang="en">
  <title>The app</title>
  <link rel="icon" href="data:,">
  <h1>The app</h1>
  <script src="/oidc-client-ts.js"></script>
  <script>
    if (window.opener) new oidc.UserManager({ authority: '-', client_id: '-', redirect_uri: '-' }).signinPopupCallback()
  </script>
</html>`

/** An application on an origin of its own, with oidc-client-ts as `oidc` and one page for every path. */
export async function startClientApp(): Promise<ClientApp> {
  const library = await readFile(libraryFile())
  const visits: { url: URL; headers: IncomingHttpHeaders }[] = []
  const server = createServer((request, response) => {
    const isLibrary = request.url === '/oidc-client-ts.js'
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (!isLibrary) visits.push({ url, headers: request.headers })
    response.setHeader('content-type', isLibrary ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isLibrary ? library : PAGE)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    redirectUri: `${origin}/callback`,
    visits,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function libraryFile(): string {
  const manifest = createRequire(import.meta.url).resolve('oidc-client-ts/package.json')
  return join(manifest, '../dist/browser/oidc-client-ts.min.js')
}
