import { chmod, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SandboxHosts } from '#platform/sandbox-host/sandbox-hosts.ts'
import { openSandboxJail } from '#platform/sandbox-host/sandbox-jail.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { builtSandbox } from '#test/built-sandbox.ts'
import { freePort } from '#test/croft-process.ts'
import { silentLog } from '#test/silent-log.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { startCroft } from '#test/started-croft.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { SANDBOX_CONFIG } from '#test/test-sandbox.ts'

import { croft } from './croft.ts'

const cleanUp = new AsyncDisposableStack()
let gateway: SmtpServer
let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  gateway = await SmtpServer.start()
  const mailTransport = cleanUp.use(new SmtpGateway(`smtp://127.0.0.1:${gateway.port}`))
  stack = cleanUp.use(await startStack({ sandbox: 'started', platform: { mailTransport } }))
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(() => cleanUp.disposeAsync())

interface Wall {
  readonly stands: boolean
  readonly needed: boolean
}

interface Told {
  readonly part: string
  readonly level: string
}

const diagnosis = async () => JSON.parse((await croft(['doctor', '--json'], env)).out)

describe('croft doctor', () => {
  test('says what answers and which isolation layers exist', async () => {
    const walls = (await builtSandbox()).jail?.walls ?? []
    const { out } = await croft(['doctor'], env)
    const lines = out.trim().split('\n')
    const { checks } = (await stack.call('any.host', 'GET', '/readyz')).json
    const parts = Object.keys(checks)
    expect(lines.slice(0, parts.length + 2)).toEqual([
      'The service:',
      ...parts.map((part) => `  ✓ ${part}: answers`),
      '',
    ])
    const told = lines.slice(parts.length + 3, lines.indexOf('What was tried and looked at:'))
    const ofWalls = told.filter((line) => /^ {2}[✓✗]/.test(line))
    expect(ofWalls.map((line) => line.split(':')[0])).toEqual(
      walls.map(({ wall, stands }) => `  ${stands ? '✓' : '✗'} ${wall}`),
    )
    expect(await diagnosis()).toMatchObject({ status: 'ready', checks, walls })
  })

  test('says what can be done about a layer that a jail lacks', async () => {
    await using bare = await startStack({
      sites: [],
      platform: {
        openSandbox: async (environment) => {
          const built = await builtSandbox()
          const options = { config: SANDBOX_CONFIG, logger: silentLog }
          const without = new Set(['memory'] as const)
          const jail = await openSandboxJail({ ...built, ...options, without })
          return SandboxHosts.start({ ...built, ...options, environment, jail })
        },
      },
    })
    const { out } = await croft(['doctor'], { ...env, CROFT_BASE_URL: bare.baseUrl('127.0.0.1') })
    expect(out).toMatch(/✗ memory: .*\n {6}Nothing has to be done: .*set MemoryMax= /)
    expect(out).not.toMatch(/✓.*\n {6}Nothing/)
  })

  test('tries database, store and gateway for real', async () => {
    const { findings } = await diagnosis()
    const ofPart = (part: string) => findings.find((one: Told) => one.part === part)
    expect(ofPart('postgres')).toMatchObject({
      says: expect.stringMatching(/^PostgreSQL \d/),
    })
    expect(ofPart('objects')).toMatchObject({
      level: 'ok',
      says: expect.stringMatching(/wrote, read and deleted/),
    })
    expect(ofPart('gateway')).toMatchObject({
      level: 'ok',
      says: expect.stringMatching(/^takes mail/),
    })
    expect(ofPart('keys')).toMatchObject({ level: 'ok' })
  })

  test('warns of what will hurt, and says what to do', async () => {
    const { out } = await croft(['doctor'], env)
    expect(out).toContain('  ! backup: there is none\n      Run "croft backup --to <place>"')
    expect(out.trim().split('\n').at(-1)).toMatch(/^(?:no|\d) problems?, \d+ warnings?$/)
  })

  test('says that a gateway is away, and why', async () => {
    await gateway[Symbol.asyncDispose]()
    const { code, out } = await croft(['doctor'], env)
    expect(code).toBe(1)
    expect(out).toMatch(/✗ gateway: does not take mail from us: .*ECONNREFUSED/)
  })

  test('of a service that does not run says what prevents its start', async () => {
    const dataDir = await temporaryFolder(cleanUp, 'croft-doctor-')
    const databaseUrl = `postgres://croft:secret@127.0.0.1:${await freePort()}/croft`
    const stopped = { CROFT_DATA_DIR: dataDir, DATABASE_URL: databaseUrl }
    const { code, out } = await croft(['doctor'], stopped)
    expect(code).toBe(1)
    expect(out).toContain(`✗ service: No Croft has been started with the data folder "${dataDir}"`)
    expect(out).toMatch(/✗ postgres: DATABASE_URL: no connection/)
    expect(out).toContain('! keys: there is no master key here')
    expect(out).not.toContain('secret')
    expect(await readdir(dataDir)).toEqual([])
    const wrong = await croft(['doctor'], { ...stopped, CROFT_MASTER_KEY: 'short' })
    expect(wrong.out).toMatch(/✗ configuration: .*CROFT_MASTER_KEY/s)
  })

  test('ends by what it finds in the program itself, and says why it is over', async () => {
    const { walls } = await diagnosis()
    const isJail = walls.every(({ stands, needed }: Wall) => stands || !needed)
    const service = await startCroft(cleanUp, {})
    const own = { CROFT_DATA_DIR: service.dataDir }
    const { code, out } = await croft(['doctor'], own)
    expect(out).toContain('no problems, ')
    expect(code).toBe(isJail ? 0 : 1)
    expect(await croft(['doctor', '--strict'], own)).toMatchObject({ code: 1 })
    await chmod(join(service.dataDir, 'master.key'), 0o644)
    const exposed = await croft(['doctor'], own)
    expect(exposed.code).toBe(1)
    expect(exposed.out).toContain('✗ keys: others may read')
    await service.stop()
    const stopped = await croft(['doctor'], own)
    expect(stopped.code).toBe(1)
    expect(stopped.out).toContain('✓ postgres: the embedded one is there')
  })

  test('looks at nothing here for a service that is elsewhere', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const away = await croft(['doctor', '--url', url], env)
    expect(away).toMatchObject({ code: 1, out: '', err: expect.stringContaining(url) })
  })

  test('refuses a caller without the operator key', async () => {
    const refused = await croft(['doctor', '--operator-key', 'another'], env)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Unauthorized') })
  })
})
