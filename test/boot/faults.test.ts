import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess, freePort } from '#test/croft-process.ts'
import { request } from '#test/http-client.ts'
import { testOn } from '#test/on-runtimes.ts'
import { type TestDatabase, cloneDatabase } from '#test/postgres.ts'

const MASTER_KEY = randomBytes(32).toString('base64')

let folder: string
let database: TestDatabase
let running: CroftProcess
let operatorPort: number
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  database = cleanUp.use(await cloneDatabase())
  operatorPort = await freePort()
  const env = { ...onDatabase(), OPERATOR_PORT: String(operatorPort) }
  running = cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'running'), env }))
})
afterAll(() => cleanUp.disposeAsync())

interface Fault {
  readonly env?: Readonly<Record<string, string>>
  readonly dataDir?: string
  readonly port?: number
  readonly on?: 'bun' | 'node' | 'deno'
}

/** What a start says that cannot succeed. It ends by itself, with 1, and leaves nothing. */
async function refusal({ env, dataDir, ...rest }: Fault): Promise<string> {
  const options = { dataDir: join(folder, dataDir ?? 'other'), env: { ...env }, ...rest }
  await using croft = await CroftProcess.launch(options)
  const watch = setInterval(() => croft.processes(), 50)
  try {
    expect(await croft.ended()).toEqual({ code: 1, signal: null })
  } finally {
    clearInterval(watch)
  }
  expect(croft.leftovers()).toEqual([])
  const said = croft.output.split('\n').filter((line) => !line.startsWith('{'))
  return said.join('\n').trim()
}

const onDatabase = () => ({ DATABASE_URL: database.url, CROFT_MASTER_KEY: MASTER_KEY })

describe('a start that cannot succeed says', () => {
  test('every wrong variable at once', async () => {
    const env = {
      PORT: '80a',
      CROFT_BASE_URL: 'croft.example.com',
      CROFT_ROLES: 'web',
      CROFT_SANDBOX_HOST: '2',
      REDIS_URL: 'secret-host',
    }
    expect(await refusal({ env })).toBe(
      [
        'croft: The environment has 5 faults:',
        '  - CROFT_SANDBOX_HOST: no such variable; did you mean CROFT_SANDBOX_HOSTS?',
        '  - REDIS_URL: its value is not a URL that starts with redis:// or rediss://, as in REDIS_URL=redis://127.0.0.1:6379',
        '  - PORT: "80a" is not a whole number from 1 to 65535, as in PORT=8080',
        '  - CROFT_BASE_URL: "croft.example.com" is not an http or https URL without a path, as in CROFT_BASE_URL=https://croft.example.com',
        '  - CROFT_ROLES: "web" is not a list, separated by commas, of one of api, mail, worker, as in CROFT_ROLES=api,worker',
      ].join('\n'),
    )
  })

  test('whose data folder it is', async () => {
    expect(await refusal({ dataDir: 'running' })).toBe(
      `croft: The data folder "${join(folder, 'running')}" is in use by the Croft of process ${running.pid}: ` +
        'stop that one first, or give this one another folder with CROFT_DATA_DIR',
    )
  })

  test('that the data folder cannot be made', async () => {
    expect(await refusal({ dataDir: 'running/operator.key/data' })).toMatch(
      /^croft: The data folder ".*" cannot be created: make it yourself .* CROFT_DATA_DIR$/,
    )
  })

  testOn(['bun', 'node', 'deno'], 'which port is taken, on %s', async (on) => {
    const fault = { env: onDatabase(), port: running.port, on }
    expect(await refusal(fault)).toBe(
      `croft: Port ${running.port} on 127.0.0.1 is in use: stop the program that listens there, or choose another with PORT`,
    )
  })

  test('which port of the operator is taken', async () => {
    const env = { ...onDatabase(), OPERATOR_PORT: String(operatorPort) }
    expect(await refusal({ env })).toBe(
      `croft: Port ${operatorPort} on 127.0.0.1 is in use: stop the program that listens there, or choose another with OPERATOR_PORT`,
    )
  })

  test.each(['SMTP_PORT', 'SUBMISSION_PORT'])('which port of mail is taken: %s', async (name) => {
    const env = { ...onDatabase(), [name]: String(operatorPort) }
    expect(await refusal({ env })).toBe(
      `croft: Port ${operatorPort} on 127.0.0.1 is in use: stop the program that listens there, or choose another with ${name}`,
    )
  })

  test('that the master key is another one', async () => {
    const env = { ...onDatabase(), CROFT_MASTER_KEY: randomBytes(32).toString('base64') }
    expect(await refusal({ env })).toMatch(
      /^croft: CROFT_MASTER_KEY is not the key that sealed the secrets in this database: set the one of its first start/,
    )
  })

  test('that no database answers, without its password', async () => {
    const env = { DATABASE_URL: `postgres://croft:hunter2@127.0.0.1:${await freePort()}/croft` }
    const said = await refusal({ env })
    expect(said).toMatch(
      /^croft: DATABASE_URL: no connection to "127\.0\.0\.1:\d+\/croft": .*ECONNREFUSED.*Check host, port, user/,
    )
    expect(said).not.toContain('hunter2')
  })

  test('that the database does not let it in, without the password', async () => {
    const url = new URL(database.url)
    url.password = 'hunter2'
    url.username = 'nobody-known'
    const said = await refusal({ env: { DATABASE_URL: url.href } })
    expect(said).toMatch(/^croft: DATABASE_URL: no connection to ".*": .*nobody-known/)
    expect(said).not.toContain('hunter2')
  })
})

describe('a start with a listener for the operator', () => {
  test('says where it is, and leaves it to the command line beside it', async () => {
    const operatorUrl = `http://127.0.0.1:${operatorPort}`
    await running.printed(`"operatorUrl":"${operatorUrl}"`)
    const left = await readFile(join(running.dataDir, 'service.json'), 'utf8')
    expect(JSON.parse(left)).toMatchObject({ operatorUrl, pid: running.pid })
    const there = { port: operatorPort, host: 'localhost', path: '/healthz' }
    expect((await request(there)).json).toEqual({ status: 'ok' })
    const portal = await running.call({ path: '/portal/api/sites' })
    expect(portal).toMatchObject({ status: 404 })
  })

  test('counts there what is asked of the sites, and says in its log of which trace', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
    const answer = await running.call({ path: '/admin/public/nothing', headers })
    const requestId = answer.headers['x-request-id']
    await running.until('the log names the trace', () =>
      running.log.some((line) => line['requestId'] === requestId && line['traceId'] === traceId),
    )
    const metrics = await request({ port: operatorPort, host: 'localhost', path: '/metrics' })
    expect(metrics.text).toContain('\ncroft_http_requests_total{family="admin",status="4xx"} 1\n')
    expect(metrics.text).toContain('\ncroft_disk_full{place="folder"} 0\n')
  })
})
