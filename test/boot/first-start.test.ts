import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { findPostmaster } from '#platform/postgres/embedded/postmaster-file.ts'
import { CroftProcess, environmentOf, freePort } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { asAdmin } from '#test/postgres.ts'
import { isRunning } from '#test/process-table.ts'
import { sandboxProgram } from '#test/sandbox-processes.ts'
import { openFolder } from '#test/temporary-folder.ts'

const run = promisify(execFile)
const ADA = { ok: true, data: { message: 'Hello, Ada!' } }
const LAST_WORDS = '/admin/api/messages?mailbox='
const SWAKS = spawnSync('swaks', ['--version']).status === 0

let folder: string
let port: number
let dataDir: string
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await openFolder(cleanUp, 'croft-boot-')
  dataDir = join(folder, 'data')
  port = await freePort()
})
afterAll(() => cleanUp.disposeAsync())

const start = async (env = {}): Promise<CroftProcess> =>
  cleanUp.use(await CroftProcess.start({ dataDir, port, env }))

/** Runs a line as it was printed. */
async function shell(line: string): Promise<string> {
  const env = { ...environmentOf({ port, dataDir }), HOME: folder }
  const { stdout } = await run('bash', ['-c', line], { env, cwd: process.cwd() })
  return stdout
}

async function embeddedUrl(): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres/password'), 'utf8')).trim()
  const running = await findPostmaster(join(dataDir, 'postgres/cluster'))
  return `postgres://postgres:${password}@127.0.0.1:${running?.port}/postgres`
}

/** One installation from its first start on: each test goes on where the one before has ended. */
describe('a new installation', () => {
  let croft: CroftProcess
  const hi = () =>
    croft.call({ method: 'POST', path: '/data/public/hi', host: 'shop.test', body: {} })

  /** The one line of each kind that it has printed. */
  const printed = (...kinds: readonly RegExp[]): string => {
    const lines = croft.output.split('\n')
    return kinds
      .map((kind) => {
        const [line = '', ...others] = lines.filter((each) => kind.test(each))
        expect(others).toEqual([])
        return line
      })
      .join('\n')
  }

  test('starts on an empty folder and says how it is reached', async () => {
    // As at a terminal.
    croft = await start({ CROFT_LOG_FORMAT: 'text' })
    await croft.printed(LAST_WORDS)
    expect(croft.output).toContain(`Croft is running at http://localhost:${port}\n`)
  })

  test('answers the printed lines when they are pasted', async () => {
    const lines = croft.output.split('\n').filter((line) => line.startsWith('  curl'))
    const [page = '', hello = '', again = '', time = ''] = lines
    expect(await shell(page)).toMatch(/^<!doctype html>.*<title>/is)
    expect(JSON.parse(await shell(hello))).toMatchObject(ADA)
    expect(await shell(again)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*x-cache: HIT\r\n.*Hello, Ada!/is)
    expect(JSON.parse(await shell(time))).toMatchObject({ ok: true, data: { now: /Z$/ } })
  })

  test('lets its super-admin in by the printed commands', async () => {
    const { resources } = JSON.parse(
      await shell(printed(/^ {2}TOKEN/, /^ {2}curl .*\/admin\/data\/.*TOKEN/)),
    )
    expect(resources.map(({ name }: { name: string }) => name).sort()).toEqual([
      'echo',
      'hello',
      'keepNotes',
      'notes',
      'time',
    ])
  })

  test.skipIf(!SWAKS)(
    'takes the mail that it says how to send, and shows it as it says',
    async () => {
      expect(await shell(printed(/^ {2}swaks/))).toMatch(/^<-\s+250 .*\n -> QUIT/m)
      const shown = await shell(printed(/^ {2}npx croft mail show/))
      expect(shown).toMatch(/^subject +Hello\n[^]*^verdict +SPF[^]*\n\nIt works\n$/m)
      const listed = await shell(printed(/^ {2}TOKEN/, /^ {2}curl .*\/admin\/api\/.*TOKEN/))
      expect(JSON.parse(listed).items).toMatchObject([
        { mailbox: 'hello@localhost', subject: 'Hello', snippet: 'It works' },
      ])
      const mailbox = await shell(printed(/^ {2}npx croft mailbox show/))
      expect(mailbox).toMatch(/^usage .* in 1 messages$/m)
    },
  )

  test('keeps the hash of the onboarding token that it has shown', async () => {
    const [link = ''] = /http\S+\?token=\S+/.exec(croft.output) ?? []
    const token = new URL(link).searchParams.get('token') ?? ''
    const hash = createHash('sha256').update(token).digest()
    await asAdmin(
      async (sql) => {
        const rows = await sql`select u.email, u.role from user_invite i
                             join pool_user u using (site_id, user_pool_id, sub)
                             where i.token_hash = ${hash} and i.used_at is null`
        expect(rows).toEqual([{ email: 'admin@localhost', role: 'super-admin' }])
      },
      await embeddedUrl(),
    )
  })

  test('stops in order and leaves no process behind', async () => {
    expect(croft.sandboxHosts().length).toBeGreaterThanOrEqual(2)
    expect(croft.postgres()).toBeDefined()
    const others = croft
      .processes()
      .filter((one) => !one.command.includes('postgres') && sandboxProgram(one) === undefined)
    expect(others).toEqual([])
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.leftovers()).toEqual([])
    expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
    expect(await readdir(dataDir)).not.toContain('service.lock')
  })

  test('answers the same after its second start, which creates nothing', async () => {
    croft = await start()
    expect((await croft.hello('Ada')).json).toMatchObject(ADA)
    expect((await portalOf(croft).sites()).map(({ domain }) => domain)).toEqual(['localhost'])
    expect(croft.output).not.toContain('token=')
  })

  test('loses nothing that it has acknowledged when it is killed', async () => {
    const portal = portalOf(croft)
    await portal.createSite('shop.test')
    await portal.createOperation('shop.test', 'hi', 'export default () => "kept"')
    await croft.until('the operation is published', async () => (await hi()).status === 200)
    await portal.createSite('late.test')
    await portal.createOperation('late.test', 'hi', 'export default () => "late"')
    const left = await croft.kill()
    const postgres = left.find(({ command }) => command.includes('bin/postgres -D'))
    const hosts = left.filter((one) => sandboxProgram(one) === 'host')
    expect(hosts.length).toBeGreaterThanOrEqual(2)
    await expect.poll(() => hosts.filter(isRunning)).toEqual([])
    expect(postgres && isRunning(postgres)).toBe(true)

    croft = await start()
    const adopted = { postgresPid: postgres?.pid, adopted: true }
    expect(croft.log).toContainEqual(expect.objectContaining(adopted))
    expect((await hi()).json).toMatchObject({ ok: true, data: 'kept' })
    expect((await croft.hello('Ada')).json).toMatchObject(ADA)
    const late = await portalOf(croft).admin('late.test')
    const { operations } = (await late('GET', '/admin/data/resources')).json
    expect(operations).toMatchObject([{ operation: 'hi' }])
  })

  test('stops the database that it has adopted', async () => {
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(await findPostmaster(join(dataDir, 'postgres/cluster'))).toBeUndefined()
  })

  test('refuses another master key, and stops the database again', async () => {
    const env = { CROFT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
    await using wrong = await CroftProcess.launch({ dataDir, env })
    expect(await wrong.ended()).toEqual({ code: 1, signal: null })
    expect(wrong.output).toContain('CROFT_MASTER_KEY is not the key that sealed the secrets')
    expect(await findPostmaster(join(dataDir, 'postgres/cluster'))).toBeUndefined()
  })
})
