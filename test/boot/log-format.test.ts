import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess, freePort } from '#test/croft-process.ts'
import { type TestDatabase, cloneDatabase } from '#test/postgres.ts'

let database: TestDatabase
let dataDir: string
let port: number
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  dataDir = join(folder, 'data')
  database = cleanUp.use(await cloneDatabase())
  port = await freePort()
})
afterAll(() => cleanUp.disposeAsync())

/** All that a start prints until it is ready and stopped again. */
async function output(env: Readonly<Record<string, string>>, last = 'running at'): Promise<string> {
  const options = { dataDir, port, env: { DATABASE_URL: database.url, ...env } }
  await using croft = await CroftProcess.start(options)
  await croft.printed(last)
  expect(await croft.stop()).toEqual({ code: 0, signal: null })
  return croft.output
}

/** What the first start prints, in whose course the first site is made. */
let first: string

describe('every start', () => {
  test.each(['the first', 'the second'])('says where it runs: %s', async (start) => {
    const printed = await output({}, start === 'the first' ? 'croft site verify' : 'running at')
    first ??= printed
    const lines = printed.split('\n').filter((line) => line.startsWith('{'))
    const said = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === `running at http://localhost:${port}`)
    expect(said).toEqual([
      expect.objectContaining({
        level: 'info',
        address: `http://127.0.0.1:${port}`,
        smtpPort: expect.any(Number),
        submissionPort: expect.any(Number),
        dataDir,
        roles: ['api', 'mail', 'worker'],
        runtime: expect.stringMatching(/^Bun \d/),
      }),
    ])
  })

  test('tells in one record, without the link, that the first site was made', async () => {
    const records = first
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.filter(({ msg }) => msg.startsWith('made the first site'))).toEqual([
      expect.objectContaining({
        level: 'info',
        domain: 'localhost',
        mailbox: 'hello@localhost',
        invited: ['admin@localhost'],
      }),
    ])
    expect(first).not.toContain('token=')
  })

  test('logs as text where that is asked for, without colours where no terminal is', async () => {
    const text = await output({ CROFT_LOG_FORMAT: 'text' })
    expect(text).toMatch(
      new RegExp(
        String.raw`^\d\d:\d\d:\d\d\.\d{3} INFO  running at http://localhost:${port} .*smtpPort=\d+ .*runtime="Bun `,
        'm',
      ),
    )
    expect(text).toContain(' INFO  stopped\n')
    expect(text).not.toContain('\u001B')
    expect(text).not.toMatch(/^\{/m)
  })
})
