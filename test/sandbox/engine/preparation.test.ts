import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { FunctionSource } from '#platform/sandbox-host/sandbox.ts'
import { NESTED_SOURCES } from '#test/nested-source.ts'
import { childrenOf } from '#test/process-table.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

const MIB = 1024 * 1024
const LINES = 8_000
const WAIT = { timeout: 30_000, interval: 5 }

const sourceOf = (code: string): FunctionSource => ({
  entry: 'main.ts',
  files: new Map([['main.ts', code]]),
})

/** Code that takes a while to read; each its own, so that nothing is remembered of another. */
const longSource = (lines: number, seed: number): FunctionSource =>
  sourceOf(
    Array.from({ length: lines }, (_, at) => `export const v${seed}_${at}: number = ${at}`).join(
      '\n',
    ),
  )

/** The process that prepares code, once it is there. */
const preparerPid = (): Promise<number> =>
  vi.waitUntil(
    () => childrenOf(process.pid).find(({ command }) => command.includes('preparer'))?.pid,
    WAIT,
  )

describe('preparing a source', () => {
  test('has the time of its own, however many are asked for at once', async () => {
    await using measured = await TestSandbox.start()
    await measured.hosts.prepare('site', longSource(LINES, 0))
    const startedAt = performance.now()
    await measured.hosts.prepare('site', longSource(LINES, 1))
    // Much more than one takes on a busy machine, and much less than all together.
    const cpuMs = Math.ceil(15 * (performance.now() - startedAt))
    await using sandbox = await TestSandbox.start({}, {}, { preparerLimits: { cpuMs } })
    const sources = Array.from({ length: 50 }, (_, at) => longSource(LINES, at))
    const prepared = await Promise.all(
      sources.map((source) => sandbox.hosts.prepare('site', source)),
    )
    expect(prepared.filter(({ ok }) => !ok)).toEqual([])
  })

  test.each([
    ['processor time', longSource(20 * LINES, 0), { cpuMs: 20 }, /more than 0.02 s to read/],
    ['memory', sourceOf(';'.repeat(4e6)), { memoryBytes: 160 * MIB }, /more than 160 MB of memory/],
  ])(
    'is refused when it takes more %s than it may, and no call notices',
    async (_, source, preparerLimits, message) => {
      await using sandbox = await TestSandbox.start({}, {}, { preparerLimits })
      const { result, others } = await sandbox.beside(() => sandbox.hosts.prepare('site', source))
      expect(result).toMatchObject({ ok: false, fault: { message, path: 'main.ts' } })
      expect(others.filter((other) => !other.ok)).toEqual([])
      expect(await sandbox.hosts.prepare('site', sourceOf('export default 1'))).toMatchObject({
        ok: true,
      })
    },
  )

  describe('that breaks its parser', () => {
    let sandbox: TestSandbox
    beforeAll(async () => {
      sandbox = await TestSandbox.start()
    })
    afterAll(() => sandbox[Symbol.asyncDispose]())

    test.each(Object.entries(NESTED_SOURCES))(
      'for its %s is refused by name, and the next one is read',
      async (_, code) => {
        const [first, broken, next] = await Promise.all(
          ['export default 1 as number', code, 'export const two: number = 2'].map((one) =>
            sandbox.hosts.prepare('site', sourceOf(one)),
          ),
        )
        expect(first).toMatchObject({ ok: true })
        const message = '"main.ts" cannot be read: it is nested too deeply, or too large'
        expect(broken).toEqual({ ok: false, fault: { message, path: 'main.ts' } })
        expect(next).toMatchObject({ ok: true })
      },
    )
  })

  test('takes sites in turn, however many sources one of them sends', async () => {
    await using sandbox = await TestSandbox.start()
    const done: string[] = []
    const prepare = async (siteId: string, seed: number) => {
      await sandbox.hosts.prepare(siteId, longSource(LINES, seed))
      done.push(siteId)
    }
    // Both processes run from here on.
    await Promise.all([prepare('first', 102), prepare('second', 103)])
    done.length = 0
    const many = Array.from({ length: 8 }, (_, at) => prepare('many', at))
    await Promise.all([...many, prepare('one', 100), prepare('other', 101)])
    expect(done.slice(0, 4).toSorted()).toEqual(['many', 'many', 'one', 'other'])
  })

  test('goes on in another process when its own is lost', async () => {
    await using sandbox = await TestSandbox.start()
    const preparing = sandbox.hosts.prepare('site', longSource(20 * LINES, 0))
    const first = await preparerPid()
    process.kill(first, 'SIGKILL')
    await vi.waitUntil(async () => (await preparerPid()) !== first, WAIT)
    process.kill(await preparerPid(), 'SIGKILL')
    expect(await preparing).toMatchObject({ ok: true })
  })

  test('ends with the service', async () => {
    const sandbox = await TestSandbox.start()
    const [preparing] = await Promise.allSettled([
      sandbox.hosts.prepare('site', longSource(20 * LINES, 0)),
      preparerPid().then(() => sandbox[Symbol.asyncDispose]()),
    ])
    expect(preparing).toMatchObject({ status: 'rejected', reason: { code: 'ServiceUnavailable' } })
    expect(childrenOf(process.pid).filter(({ command }) => command.includes('preparer'))).toEqual(
      [],
    )
  })
})
