import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { CroftProcess, freePort } from '#test/croft-process.ts'

let folder: string
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
})
afterAll(() => cleanUp.disposeAsync())

const entries = (path: string): Promise<string[]> => readdir(path).catch(() => [])

async function isBeingCreated(postgres: string): Promise<boolean> {
  const unfinished = (await entries(postgres)).find((name) => /^cluster\.new\.\w+$/.test(name))
  return unfinished !== undefined && (await entries(join(postgres, unfinished))).length > 3
}

test('a first start that is killed again and again is completed by the next one', async () => {
  const options = { dataDir: join(folder, 'data'), port: await freePort() }
  const postgres = join(options.dataDir, 'postgres')
  const answered = async (croft: CroftProcess): Promise<boolean> =>
    croft.hello('Ada').then(
      ({ json }) => json.error?.code !== 'SiteNotFound',
      () => false,
    )
  const points: [string, (croft: CroftProcess) => boolean | Promise<boolean>][] = [
    ['it has its keys', async () => (await entries(options.dataDir)).includes('master.key')],
    ['the database is being created', () => isBeingCreated(postgres)],
    [
      'the database is starting',
      async () => (await entries(join(postgres, 'cluster'))).includes('postmaster.pid'),
    ],
    ['the database is there', (croft) => croft.output.includes('embedded postgres ready')],
    ['the schema is there', (croft) => croft.output.includes('database migrated')],
    ['it is ready', (croft) => croft.isReady()],
    ['its first site is there', answered],
  ]
  for (const [what, holds] of points) {
    const croft = cleanUp.use(await CroftProcess.launch(options))
    await croft.until(what, async () => croft.output.includes('token=') || (await holds(croft)))
    if (croft.output.includes('token=')) throw new Error(`Too late: ${what}`)
    await croft.kill()
  }

  const croft = cleanUp.use(await CroftProcess.start(options))
  await croft.printed('croft site verify')
  expect((await croft.hello('Ada')).json).toMatchObject({ data: { message: 'Hello, Ada!' } })
  expect(await croft.stop()).toEqual({ code: 0, signal: null })
  expect(croft.leftovers()).toEqual([])
})
