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
async function output(env: Readonly<Record<string, string>>): Promise<string> {
  const options = { dataDir, port, env: { DATABASE_URL: database.url, ...env } }
  await using croft = await CroftProcess.start(options)
  await croft.printed('running at')
  expect(await croft.stop()).toEqual({ code: 0, signal: null })
  return croft.output
}

describe('every start', () => {
  test.each(['the first', 'the second'])('says where it runs: %s', async () => {
    const lines = (await output({})).split('\n').filter((line) => line.startsWith('{'))
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
