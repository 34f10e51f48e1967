import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'

let folder: string
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
})
afterAll(() => cleanUp.disposeAsync())

/** In this order on one data folder: Deno makes the installation, the others find it. */
describe.each(['deno', 'node', 'bun'] as const)('an installation on %s', (on) => {
  test('answers the first operation, from a sandbox and from the cache, and stops in order', async () => {
    const croft = cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'data'), on }))
    expect(croft.command()).toContain(on)
    if (on === 'deno') await croft.printed('croft site verify')
    const first = await croft.hello(on)
    expect(first).toMatchObject({ status: 200, json: { data: { message: `Hello, ${on}!` } } })
    expect(first.headers['x-cache']).toBe('MISS')
    expect((await croft.hello(on)).headers['x-cache']).toBe('HIT')
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.leftovers()).toEqual([])
    expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
  })
})
