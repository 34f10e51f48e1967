import { once } from 'node:events'
import { type IncomingHttpHeaders, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { build } from 'esbuild'

import type { PoolKind } from '#identity/pool-kind.ts'

export interface ClientApp extends AsyncDisposable {
  readonly origin: string
  /** Where it only waits for browsers. */
  readonly redirectUri: string
  /** Where it is the application of one pool; its own redirect URI is `callback` there. */
  homeOf(host: string, pool: PoolKind): string
  /** The URL and headers of each visit. */
  readonly visits: readonly { readonly url: URL; readonly headers: IncomingHttpHeaders }[]
}

const SCRIPT = '/app.js'
const pageOf = (script: string) => `<!doctype html>
<html lang="en">
  <title>The app</title>
  <link rel="icon" href="data:,">
  <h1>The app</h1>
  ${script}
</html>`
const WAITING = pageOf('')
/** The page that runs the application, at whatever origin has its script. */
export const RUNNING_PAGE = pageOf(`<script type="module" src="${SCRIPT}"></script>`)

/** An application with oidc-client-ts on an origin of its own, which is this machine’s: a browser needs no TLS for it. */
export async function startClientApp(): Promise<ClientApp> {
  const script = await clientAppScript()
  const visits: { url: URL; headers: IncomingHttpHeaders }[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const isScript = url.pathname === SCRIPT
    if (!isScript) visits.push({ url, headers: request.headers })
    response.setHeader('content-type', `text/${isScript ? 'javascript' : 'html'}; charset=utf-8`)
    const page = url.pathname.split('/').length > 3 ? RUNNING_PAGE : WAITING
    response.end(isScript ? script : page)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    redirectUri: `${origin}/callback`,
    homeOf: (host, pool) => `${origin}/${host}/${pool}/`,
    visits,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The application, bundled: what a page of it loads as `/app.js`. */
export async function clientAppScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'single-page-app.js')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
