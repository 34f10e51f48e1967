import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startChild } from '#bench/child-process.ts'
import { httpCall } from '#bench/http-call.ts'
import { waitUntil } from '#bench/wait-until.ts'

export interface Nginx extends AsyncDisposable {
  readonly origin: string
  readonly pid: number
  readonly version: string
}

/** Starts nginx over the folder, with Debian's configuration except for its paths. Undefined when it is not installed. */
export async function startNginx(root: string, probe: string): Promise<Nginx | undefined> {
  const version = await versionOfNginx()
  if (version === undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'croft-nginx-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  await writeFile(file, configuration({ folder, root, port }))
  const child = startChild('nginx', ['-c', file, '-e', join(folder, 'error.log')])
  const origin = `http://127.0.0.1:${port}`
  const call = { origin, host: 'localhost', method: 'GET', path: probe } as const
  const answers = () =>
    httpCall(call).then(
      ({ status }) => status === 200,
      () => false,
    )
  await Promise.race([waitUntil('ready nginx', answers), child.ended()])
  return {
    origin,
    pid: child.pid,
    version,
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function versionOfNginx(): Promise<string | undefined> {
  try {
    const { stderr } = await promisify(execFile)('nginx', ['-v'])
    return stderr.trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** What Debian's `nginx.conf` says of speed; it logs each request, as it does there. */
const configuration = ({ folder, root, port }: { folder: string; root: string; port: number }) => `
daemon off;
worker_processes auto;
pid ${folder}/pid;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  types_hash_max_size 2048;
  types { text/css css; }
  default_type application/octet-stream;
  access_log ${folder}/access.log;
  gzip on;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
