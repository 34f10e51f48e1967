import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { ISOLATION_LAYERS } from '#platform/sandbox-host/isolation/isolation-layers.ts'
import { librariesOf } from '#platform/sandbox-host/isolation/visible-files.ts'
import { openSandboxJail } from '#platform/sandbox-host/sandbox-jail.ts'
import { startProcess } from '#platform/sandbox-host/start-process.ts'
import { silentLog } from '#test/silent-log.ts'
import { SANDBOX_CONFIG } from '#test/test-sandbox.ts'

// A service with keys, ports and sockets whose sandbox process is taken over. Prints which isolation layers existed, and which
// attempts succeeded.
const PERL = '/usr/bin/perl'
const SOURCE = join(import.meta.dirname, '../../../README.md')
const without = new Set(ISOLATION_LAYERS.filter((wall) => process.argv.includes(wall)))

const folder = mkdtempSync(join(tmpdir(), 'croft-escape-'))
chmodSync(folder, 0o755)
const dataDir = join(folder, 'data')
mkdirSync(dataDir, { mode: 0o700 })
writeFileSync(join(dataDir, 'master.key'), 'the master key', { mode: 0o600 })
const own = join(folder, 'own')
writeFileSync(own, '')
const socket = join(folder, 'other.sock')
const abstract = `croft-escape-${process.pid}`
await listen({ path: socket })
await listen({ path: `\0${abstract}` })
const address = (await listen({ port: 0, host: '127.0.0.1' })).address()
chmodSync(socket, 0o777)

const jail = await openSandboxJail({
  config: SANDBOX_CONFIG,
  cacheDir: join(dataDir, 'cache'),
  logger: silentLog,
  without,
})
jail.give(own)
const words = [
  PERL,
  join(import.meta.dirname, 'escaped/attempts.pl'),
  process.arch,
  String(process.pid),
  dataDir,
  String(typeof address === 'object' ? address?.port : 0),
  socket,
  abstract,
  SOURCE,
  own,
]
const { child, stderr } = startProcess(
  jail.command({
    entry: join(import.meta.dirname, 'escaped/entry.ts'),
    arguments: words,
    view: { reads: [PERL, ...(await librariesOf([PERL]))], writes: [own] },
  }),
  'pipe',
)

let output = ''
child.stdout?.setEncoding('utf8')
child.stdout?.on('data', (text: string) => {
  output += text
})
await once(child, 'close')
const attempts = output
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
const succeeded = attempts.filter(([, result]) => result === '1').map(([name]) => name)
const stand = jail.walls.filter((wall) => wall.stands).map(({ wall }) => wall)
const report = { walls: jail.walls, stand, attempts: attempts.map(([name]) => name), succeeded }
process.stdout.write(JSON.stringify({ ...report, stderr: stderr() }))
await rm(folder, { recursive: true })
process.exit(0)

async function listen(options: { path: string } | { port: number; host: string }): Promise<Server> {
  const server = createServer((connection) => connection.destroy())
  server.listen(options)
  await once(server, 'listening')
  return server
}
