import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { processCommand } from '#config/process-identity.ts'
import { createClient } from '#platform/postgres/client.ts'
import { type Binaries, findBinaries } from '#platform/postgres/embedded/binaries.ts'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '#platform/postgres/embedded/embedded-postgres.ts'
import { asAdmin } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'
import { openFolder } from '#test/temporary-folder.ts'

const AS_ROOT = process.getuid?.() === 0
/** An ordinary account that every system has: `initdb` wants a name for its uid. */
const DAEMON = 1
const SERVICE = join(import.meta.dirname, '../processes/embedded-postgres.ts')

let folder: string
let dataDir: string
let cleanUp: AsyncDisposableStack
const clean = () => cleanUp.disposeAsync()

async function newFolder(): Promise<void> {
  cleanUp = new AsyncDisposableStack()
  folder = await openFolder(cleanUp, 'croft-embedded-')
  dataDir = join(folder, 'data')
}

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const elsewhere = join(folder, 'elsewhere')
  const server = await startEmbeddedPostgres({ dataDir, elsewhere, log: silentLog, ...options })
  // Disposing one that is stopped does nothing.
  return cleanUp.use(server)
}

/** Starts the database from another process, which stays. */
async function startFromService(
  identity: { uid?: number; gid?: number } = {},
): Promise<{ service: ChildProcess; started: Omit<EmbeddedPostgres, keyof AsyncDisposable> }> {
  const service = spawn(process.execPath, [SERVICE, dataDir, join(folder, 'elsewhere')], {
    ...identity,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanUp.defer(() => void service.kill('SIGKILL'))
  if (!service.stdout) throw new Error('The service has no output')
  const [line] = await once(service.stdout, 'data')
  return { service, started: JSON.parse(String(line)) }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const write = (server: { url: string }, word: string) =>
  asAdmin(async (sql) => {
    await sql`create table if not exists kept (word text)`
    await sql`insert into kept values (${word})`
  }, server.url)

async function readBack(server: { url: string }): Promise<unknown[]> {
  const sql = createClient({ url: server.url, max: 1 })
  try {
    return (await sql<{ word: string }[]>`select word from kept order by word`).map(
      ({ word }) => word,
    )
  } finally {
    await sql.end()
  }
}

describe('the embedded database', () => {
  beforeEach(newFolder)
  afterEach(clean)

  test('starts on an empty folder, and keeps what was written for the next start', async () => {
    const first = await start()
    expect(first.adopted).toBe(false)
    await write(first, 'kept')
    await first[Symbol.asyncDispose]()

    const second = await start()
    expect(second.adopted).toBe(false)
    expect(await readBack(second)).toEqual(['kept'])
  })

  test('is adopted with all it holds after its service was killed', async () => {
    const { service, started } = await startFromService()
    await write(started, 'before')
    await kill(service)

    const adopted = await start()
    expect(adopted).toMatchObject({ adopted: true, pid: started.pid, url: started.url })
    expect(await readBack(adopted)).toEqual(['before'])
  })

  test('comes back with every committed row after it was killed with its service', async () => {
    const { service, started } = await startFromService()
    await write(started, 'committed')
    await kill(service)
    process.kill(started.pid, 'SIGKILL')
    // Until it has ended it may be adopted.
    await vi.waitUntil(() => processCommand(started.pid) === '')
    const second = await start()
    expect(second.pid).not.toBe(started.pid)
    expect(await readBack(second)).toEqual(['committed'])
  })

  test('starts though its lock file names a process that is not Postgres', async () => {
    const first = await start()
    await write(first, 'kept')
    await first[Symbol.asyncDispose]()
    const stale = [process.pid, first.cluster, 1, 5432, '', '127.0.0.1', '', 'ready', '']
    await writeFile(join(first.cluster, 'postmaster.pid'), stale.join('\n'))

    const second = await start()
    expect(second.adopted).toBe(false)
    expect(await readBack(second)).toEqual(['kept'])
  })

  test('starts again when the service was killed while it was being created', async () => {
    await mkdir(join(dataDir, 'postgres', 'cluster.new', 'base'), { recursive: true })
    await writeFile(join(dataDir, 'postgres', 'cluster.password'), 'x')
    const server = await start()
    await write(server, 'kept')
    expect(await readBack(server)).toEqual(['kept'])
  })
})

describe('an embedded database that runs', () => {
  let server: EmbeddedPostgres
  beforeAll(async () => {
    await newFolder()
    process.env['CROFT_TEST_SECRET'] = 'hunter2'
    cleanUp.defer(() => void delete process.env['CROFT_TEST_SECRET'])
    server = await start()
  })
  afterAll(clean)

  test('refuses connections without the password, which only its service can read', async () => {
    const url = new URL(server.url)
    url.password = 'wrong'
    await expect(asAdmin((sql) => sql`select 1`, url.href)).rejects.toMatchObject({ code: '28P01' })
    expect((await stat(join(dataDir, 'postgres', 'password'))).mode & 0o777).toBe(0o600)
    expect((await stat(server.cluster)).mode & 0o777).toBe(0o700)
  })

  test('listens on this machine only', async () => {
    await asAdmin(async (sql) => {
      const [row] = await sql`select current_setting('listen_addresses') as addresses,
                                     current_setting('fsync') as fsync`
      expect(row).toEqual({ addresses: '127.0.0.1', fsync: 'on' })
    }, server.url)
  })

  test.runIf(process.platform === 'linux')('has none of its service’s environment', async () => {
    const environment = await readFile(`/proc/${server.pid}/environ`, 'utf8')
    expect(environment).not.toContain('hunter2')
  })

  test.runIf(AS_ROOT)('belongs to uid 65534 when its service is root’s', async () => {
    expect(await readFile(`/proc/${server.pid}/status`, 'utf8')).toMatch(/^Uid:\s+65534\s/m)
    expect((await stat(server.cluster)).uid).toBe(65_534)
  })
})

describe('the embedded database says what to do', () => {
  let cluster: string
  beforeAll(async () => {
    await newFolder()
    const server = await start()
    cluster = server.cluster
    await server[Symbol.asyncDispose]()
  })
  afterAll(clean)

  test('when there are no binaries for the machine', () => {
    expect(() => findBinaries('plan9-mips')).toThrow(
      /"@embedded-postgres\/plan9-mips" is not installed.*DATABASE_URL=postgres:/s,
    )
  })

  test('when its password is lost', async () => {
    const file = join(dataDir, 'postgres', 'password')
    await rename(file, `${file}.lost`)
    await expect(start()).rejects.toThrow(/password.*put ".*password" back/s)
    await rename(`${file}.lost`, file)
  })

  test('when it does not come up, with the end of its log', async () => {
    await expect(start({ settings: { shared_buffers: 'much' } })).rejects.toThrow(
      /does not start.*invalid value for parameter "shared_buffers"/s,
    )
  })

  test('when another major version made its files', async () => {
    await writeFile(join(cluster, 'PG_VERSION'), '15\n')
    await expect(start()).rejects.toThrow('is of PostgreSQL 15, the installed binaries are of 18')
  })
})

/** An installation of its own, as `npm ci --ignore-scripts` leaves it: without the links between libraries. */
async function unpack(into: string): Promise<Binaries> {
  const { home, version } = findBinaries()
  const links: { target: string }[] = JSON.parse(
    await readFile(join(home, 'pg-symlinks.json'), 'utf8'),
  )
  const target = join(into, 'native')
  await cp(home, target, { recursive: true, verbatimSymlinks: true })
  for (const link of links) await rm(join(into, link.target), { force: true })
  return { home: target, version }
}

test.runIf(AS_ROOT)('a user without a name gets an error that says where to put it', async () => {
  await newFolder()
  await mkdir(dataDir)
  await chown(dataDir, 54_321, 54_321)
  const service = spawn(process.execPath, [SERVICE, dataDir], {
    uid: 54_321,
    gid: 54_321,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  service.stderr?.on('data', (chunk) => {
    said += String(chunk)
  })
  await once(service, 'exit')
  await clean()
  expect(said).toMatch(/user does not exist; give that user a line in \/etc\/passwd/)
})

describe('binaries', () => {
  beforeEach(newFolder)
  afterEach(clean)

  test('run after an installation without scripts', async () => {
    const server = await start({ binaries: await unpack(join(folder, 'package')) })
    await write(server, 'kept')
    expect(await readBack(server)).toEqual(['kept'])
  })

  test.runIf(AS_ROOT)('are copied once when their folder is closed to the account', async () => {
    const home = join(folder, 'root')
    const binaries = await unpack(join(home, 'package'))
    await chmod(home, 0o700)
    await (await start({ binaries }))[Symbol.asyncDispose]()
    const copy = join(dataDir, 'postgres', `postgresql-${binaries.version}`)
    const { ctimeMs } = await stat(copy)
    await write(await start({ binaries }), 'kept')
    expect((await stat(copy)).ctimeMs).toBe(ctimeMs)
  })
})

describe.runIf(AS_ROOT)('as root', () => {
  beforeEach(newFolder)
  afterEach(clean)

  test('it lives elsewhere when the data folder is closed, and is found there again', async () => {
    await mkdir(dataDir, { mode: 0o700 })
    const binaries = await unpack(join(dataDir, 'package'))
    const first = await start({ binaries })
    expect(first.cluster).toMatch(new RegExp(`^${folder}/elsewhere/[0-9a-f]{16}/cluster$`))
    await write(first, 'kept')
    await first[Symbol.asyncDispose]()

    const second = await start({ binaries })
    expect(second.cluster).toBe(first.cluster)
    expect(await readBack(second)).toEqual(['kept'])
  })

  test('it keeps running as the user who created it', async () => {
    await mkdir(dataDir)
    await chown(dataDir, DAEMON, DAEMON)
    const { service, started } = await startFromService({ uid: DAEMON, gid: DAEMON })
    await write(started, 'kept')
    expect((await stat(started.cluster)).uid).toBe(DAEMON)
    await kill(service)

    await (await start())[Symbol.asyncDispose]()
    const second = await start()
    expect(await readFile(`/proc/${second.pid}/status`, 'utf8')).toMatch(/^Uid:\s+1\s/m)
    expect(await readBack(second)).toEqual(['kept'])
  })
})
