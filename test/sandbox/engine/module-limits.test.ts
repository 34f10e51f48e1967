import { availableParallelism } from 'node:os'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FunctionSource } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** Modules of which each imports so many of those that follow it. */
function graphOf(modules: number, imports: number, keyword = 'import'): FunctionSource {
  const files = new Map<string, string>()
  for (let at = 0; at < modules; at += 1) {
    const lines = Array.from({ length: imports }, (_, index) => {
      const to = Math.min(modules - 1, at + index + 1)
      return keyword === 'require' ? `require('./m${to}.cjs')` : `${keyword} './m${to}.js'`
    })
    files.set(`m${at}.${keyword === 'require' ? 'cjs' : 'js'}`, lines.join('\n'))
  }
  return { entry: files.keys().next().value ?? '', files }
}

describe('a function that reaches too much', () => {
  test.each([
    ['imports', graphOf(900, 60), /reaches more than 20000 imports \(20040 imports in 394 modules/],
    ['imports by require', graphOf(900, 60, 'require'), /reaches more than 20000 imports/],
    ['exports of others', graphOf(900, 60, 'export * from'), /reaches more than 20000 imports/],
    ['modules', graphOf(1200, 10), /reaches more than 1000 modules/],
    ['modules in a row', graphOf(300, 1), /more than 200 modules in a row that import one another/],
  ])('is refused for its %s, by the limit and what it has', async (_, source, message) => {
    expect(await sandbox.hosts.prepare('site', source)).toMatchObject({
      ok: false,
      fault: { message: expect.stringMatching(message), path: expect.any(String) },
    })
  })

  test.each([
    ['imports', graphOf(900, 20)],
    ['modules', graphOf(1000, 6)],
    ['modules in a row', graphOf(200, 1)],
  ])('is read with as many %s as may be', async (_, source) => {
    expect(await sandbox.hosts.prepare('site', source)).toMatchObject({ ok: true })
  })
})

test.skipIf(availableParallelism() < 2)(
  'a site whose code is long to read keeps no other waiting (needs two processors)',
  async () => {
    const code = (lines: number, seed: number): FunctionSource => ({
      entry: 'main.ts',
      files: new Map([
        [
          'main.ts',
          Array.from({ length: lines }, (_, at) => `export const v${seed}_${at}: number = 1`).join(
            '\n',
          ),
        ],
      ]),
    })
    const done: string[] = []
    const prepare = async (siteId: string, source: FunctionSource) => {
      await sandbox.hosts.prepare(siteId, source)
      done.push(siteId)
    }
    const long = [1, 2, 3, 4].map((seed) => prepare('long', code(150_000, seed)))
    for (let seed = 0; seed < 3; seed += 1) await prepare('short', code(1, seed))
    expect(done.slice(0, 3)).toEqual(['short', 'short', 'short'])
    await Promise.all(long)
  },
)
