/** Bun alone: `routes FOLDER` holds every file in memory as a route of its own, `file FOLDER` opens it for each request. */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const [mode = 'routes', folder = '.'] = process.argv.slice(2)
const names = await readdir(folder)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: mode === 'routes' ? await routesOf(names) : {},
  fetch(request: Request) {
    const name = request.url.slice(request.url.lastIndexOf('/') + 1)
    return names.includes(name)
      ? new Response(Bun.file(join(folder, name)))
      : new Response(null, { status: 404 })
  },
})
process.stdout.write(`listening ${server.port}\n`)

async function routesOf(all: readonly string[]): Promise<Record<string, Response>> {
  const routes: Record<string, Response> = {}
  for (const name of all) {
    const headers = { 'content-type': 'text/css; charset=utf-8' }
    routes[`/${name}`] = new Response(await readFile(join(folder, name)), { headers })
  }
  return routes
}
