import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { testOn } from '#test/on-runtimes.ts'

import { ran } from './croft.ts'

/** Node before 22.15 has no `process.execve`. */
const OLD_NODE = ['--import', 'data:text/javascript,process.execve=undefined']
const RUNTIMES = ['bun', 'node', 'deno'] as const
const ON = { bun: [], node: ['--on', 'node'], deno: ['--on=deno'] } as const
const PROGRAM = `
  process.once('SIGTERM', () => process.exit(7))
  const runtime = 'Bun' in globalThis ? 'bun' : 'Deno' in globalThis ? 'deno' : 'node'
  console.log(runtime, process.argv.slice(2).join(' '))
  if (process.argv.includes('stay')) setInterval(() => {}, 1000)
  else process.exitCode = 5
`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-bin-'))
  await cp(join(installRoot(), 'bin'), join(folder, 'bin'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"name":"croft","type":"module"}')
  await mkdir(join(folder, 'src/cli'), { recursive: true })
  await writeFile(join(folder, 'src/main.ts'), PROGRAM)
  await writeFile(join(folder, 'src/cli/main.ts'), PROGRAM)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const bin = () => join(folder, 'bin/croft.js')
const install = async () => {
  await uninstall()
  for (const name of ['node_modules', 'peers']) {
    await symlink(join(installRoot(), name), join(folder, name))
  }
}
const uninstall = async () => {
  for (const name of ['node_modules', 'peers']) await rm(join(folder, name), { force: true })
}

describe.each([
  ['by replacing itself', []],
  ['with a child', OLD_NODE],
])('the program starts %s', (_how, flags: string[]) => {
  testOn(RUNTIMES, 'on %s, hands its words on and ends with its code', async (runtime) => {
    await install()
    expect(await ran([...flags, bin(), 'serve', ...ON[runtime], 'a', 'b'], {})).toEqual({
      code: 5,
      out: `${runtime} a b\n`,
      err: '',
    })
  })

  test('every other command on Node', async () => {
    await install()
    const { out } = await ran([...flags, bin(), 'site', 'list'], {})
    expect(out).toBe('node site list\n')
  })

  test('and a signal reaches it', async () => {
    await install()
    const child = spawn(process.execPath, [...flags, bin(), 'serve', 'stay'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(7)
  })
})

describe('a runtime that is not installed', () => {
  test.each([
    [['serve'], 'bun is missing: the package "@oven/bun-', 'npm ci'],
    [
      ['serve', '--on', 'deno'],
      'Deno is missing: the package "deno" is not installed',
      'npm install deno',
    ],
  ])('is named by %j', async (args, words, command) => {
    await uninstall()
    const { code, err } = await ran([bin(), ...args], {})
    expect(code).toBe(1)
    expect(err).toContain(words)
    expect(err).toContain(`Run "${command}"`)
  })

  test('is installed by a script of the sources where it is Deno', async () => {
    await uninstall()
    await mkdir(join(folder, 'peers'))
    const { code, err } = await ran([bin(), 'serve', '--on', 'deno'], {})
    await rm(join(folder, 'peers'), { recursive: true })
    expect(code).toBe(1)
    expect(err).toContain('Run "npm run peers"')
  })

  test('does not matter for Node when the installed one is new enough', async () => {
    await uninstall()
    expect(await ran([bin(), 'serve', '--on', 'node'], {})).toMatchObject({
      code: 5,
      out: 'node \n',
    })
  })

  test('is found in the package of the platform when no install script has run', async () => {
    await uninstall()
    const real = join(installRoot(), 'node_modules/bun/bin/bun.exe')
    const scoped = join(folder, 'node_modules/@oven', `bun-${process.platform}-${process.arch}`)
    await mkdir(join(scoped, 'bin'), { recursive: true })
    await mkdir(join(folder, 'node_modules/bun/bin'), { recursive: true })
    await writeFile(join(folder, 'node_modules/bun/bin/bun.exe'), 'placeholder', { mode: 0o755 })
    await symlink(real, join(scoped, 'bin/bun'))
    expect(await ran([bin(), 'serve'], {})).toMatchObject({ code: 5, out: 'bun \n' })
    await rm(join(folder, 'node_modules'), { recursive: true })
  })
})
