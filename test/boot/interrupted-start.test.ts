import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { jailMark } from '#platform/sandbox-host/isolation/bubblewrap.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { openFolder } from '#test/temporary-folder.ts'

let folder: string
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await openFolder(cleanUp, 'croft-boot-')
})
afterAll(() => cleanUp.disposeAsync())

const entries = (path: string): Promise<string[]> => readdir(path).catch(() => [])

async function isBeingCreated(postgres: string): Promise<boolean> {
  const unfinished = (await entries(postgres)).find((name) => /^cluster\.new\.\w+$/.test(name))
  return unfinished !== undefined && (await entries(join(postgres, unfinished))).length > 3
}

/** True at some moment within this time from now. */
function atRandom(withinMs: number): () => boolean {
  const moment = performance.now() + Math.random() * withinMs
  return () => performance.now() >= moment
}

const answersFor = (croft: CroftProcess): Promise<boolean> =>
  croft.hello('Ada').then(
    ({ json }) => json.error?.code !== 'SiteNotFound',
    () => false,
  )

test('a first start that is killed again and again is completed by the next one', async () => {
  const options = {
    dataDir: join(folder, 'data'),
    port: await freePort(),
    // The link of the first super-admin is shown where people read.
    env: { CROFT_LOG_FORMAT: 'text' },
  }
  const postgres = join(options.dataDir, 'postgres')
  const points: [string, (croft: CroftProcess) => () => boolean | Promise<boolean>][] = [
    ['it has its keys', () => async () => (await entries(options.dataDir)).includes('master.key')],
    ['its database is being created', () => () => isBeingCreated(postgres)],
    [
      'its database is starting',
      () => async () => (await entries(join(postgres, 'cluster'))).includes('postmaster.pid'),
    ],
    ['a random moment', () => atRandom(600)],
    ['another random moment', () => atRandom(900)],
    ['a later random moment', () => atRandom(1200)],
    ['it is ready', (croft) => () => croft.isReady()],
    ['its first site is there', (croft) => () => answersFor(croft)],
  ]
  let output = ''
  for (const [what, reached] of points) {
    const croft = cleanUp.use(await CroftProcess.launch(options))
    await croft.until(what, reached(croft))
    await croft.kill()
    output += croft.output
  }

  const croft = cleanUp.use(await CroftProcess.start(options))
  await croft.until('the first site is announced', () => (output + croft.output).includes('token='))
  expect((await croft.hello('Ada')).json).toMatchObject({ data: { message: 'Hello, Ada!' } })
  expect(await croft.stop()).toEqual({ code: 0, signal: null })
  expect(croft.leftovers()).toEqual([])
})

test('a start ends the jails of its own data folder that are left, and no others', async () => {
  const dataDir = join(folder, 'with-jails')
  const waiting = (...words: readonly string[]): ChildProcess => {
    const child = spawn('/bin/sh', ['-c', 'read line', 'sh', ...words, 'end'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    cleanUp.defer(() => void child.kill('SIGKILL'))
    return child
  }
  const cacheDir = join(dataDir, 'cache')
  const others = [waiting(...jailMark(`${cacheDir}-2`)), waiting(cacheDir)]
  const left = waiting(...jailMark(cacheDir))
  const ended = once(left, 'exit')
  const croft = cleanUp.use(await CroftProcess.start({ dataDir }))
  expect(await ended).toEqual([null, 'SIGKILL'])
  expect(croft.log).toContainEqual(
    expect.objectContaining({
      msg: 'ended processes of a service that was killed',
      pids: [left.pid],
    }),
  )
  expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null])
  await croft.stop()
})
