import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { lockDataDir } from './data-dir-lock.ts'

let folder: string
let dataDir: string
const children: ChildProcess[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-lock-'))
  dataDir = join(folder, 'data')
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

/** Another process that takes the lock, says so, and stays. */
async function holder(): Promise<{ child: ChildProcess; said: string }> {
  const lock = join(import.meta.dirname, 'data-dir-lock.ts')
  const script = `
    const { lockDataDir } = await import(${JSON.stringify(lock)})
    try { await lockDataDir(${JSON.stringify(dataDir)}); console.log('locked') }
    catch (error) { console.log(error.message) }
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  if (!child.stdout) throw new Error('The child has no output')
  const [said] = await once(child.stdout, 'data')
  return { child, said: String(said).trim() }
}

const lockText = () => readFile(join(dataDir, 'service.lock'), 'utf8')

describe('the lock of a data folder', () => {
  test('creates the folder, which others may pass but not list', async () => {
    await using _lock = await lockDataDir(dataDir)
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711)
  })

  test('is free again after the service has ended in order', async () => {
    const lock = await lockDataDir(dataDir)
    await lock[Symbol.asyncDispose]()
    await using _again = await lockDataDir(dataDir)
    expect(await readdir(dataDir)).toEqual(['service.lock'])
  })

  test('refuses a second service and names the first', async () => {
    const { child } = await holder()
    await expect(lockDataDir(dataDir)).rejects.toThrow(`of process ${child.pid}`)
    await expect(lockDataDir(dataDir)).rejects.toThrow('CROFT_DATA_DIR')
  })

  test('is taken over from a service that was killed', async () => {
    const { child } = await holder()
    child.kill('SIGKILL')
    await once(child, 'exit')
    await using _lock = await lockDataDir(dataDir)
    expect(await lockText()).toContain(String(process.pid))
  })

  test('is taken over when its pid belongs to another process by now', async () => {
    const { child } = await holder()
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { pid } = await holder().then(({ child: other }) => other)
    await writeFile(join(dataDir, 'service.lock'), JSON.stringify({ pid, started: '1' }))
    await using _lock = await lockDataDir(dataDir)
    expect(await lockText()).toContain(String(process.pid))
  })

  test.each([[''], ['{'], ['[]'], ['{"pid":1}']])(
    'is taken over when it says "%s"',
    async (text) => {
      await (await lockDataDir(dataDir))[Symbol.asyncDispose]()
      await writeFile(join(dataDir, 'service.lock'), text)
      await using _lock = await lockDataDir(dataDir)
      expect(await lockText()).toContain(String(process.pid))
    },
  )

  test('of a killed service goes to one of many who want it', async () => {
    const { child } = await holder()
    child.kill('SIGKILL')
    await once(child, 'exit')
    const all = await Promise.all(Array.from({ length: 5 }, () => holder()))
    expect(all.filter(({ said }) => said === 'locked')).toHaveLength(1)
  })
})
