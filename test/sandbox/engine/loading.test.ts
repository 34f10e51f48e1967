import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'
import { LIMITS, TestSandbox } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

type Files = Readonly<Record<string, string>>

/** Loads the first file as the entry. */
async function load(files: Files, site = 'site', cpuMs = LIMITS.cpuMs): Promise<CallOutcome> {
  const [entry = ''] = Object.keys(files)
  const prepared = await sandbox.hosts.prepare(site, {
    entry,
    files: new Map(Object.entries(files)),
  })
  if (!prepared.ok) throw new Error(prepared.fault.message)
  return sandbox.hosts.load({
    siteId: site,
    siteDomain: `${site}.test`,
    name: entry,
    entry,
    handler: 'default',
    modules: prepared.modules,
    env: { GREETING: 'hello' },
    timeoutMs: 500,
    memoryMb: 64,
    limits: { ...LIMITS, cpuMs },
  })
}

const CODE = 'export default () => 1'
const faulty = (fault: object) => ({ kind: 'invalidCode', fault: expect.objectContaining(fault) })
const NEVER = /never settles/

const LOADS: readonly (readonly [what: string, files: Files])[] = [
  ['a handler', { 'a.js': CODE }],
  ['variables', { 'a.js': `if (Deno.env.get('GREETING') !== 'hello') throw 1; ${CODE}` }],
  ['a timer', { 'a.js': `await new Promise((go) => setTimeout(go, 30)); ${CODE}` }],
  [
    'a refusal that it handles',
    { 'a.js': `await fetch('https://x.test').catch(() => {}); ${CODE}` },
  ],
  ['output', { 'a.js': `console.log('not printed'); ${CODE}` }],
]

const FAILS: readonly (readonly [what: string, files: Files, failure: object])[] = [
  [
    'a throw',
    { 'a.ts': `const n: number = 1\nif (n)\n  throw new TypeError('broken')\n${CODE}` },
    faulty({ message: 'broken', path: 'a.ts', line: 3, column: 9 }),
  ],
  [
    'a throw in a module that it imports',
    { 'a.js': `import './lib/b.js'; ${CODE}`, 'lib/b.js': '\n\nnull.x' },
    faulty({ path: 'lib/b.js', line: 3, column: 6 }),
  ],
  [
    'a throw in CommonJS',
    { 'a.cjs': `\nthrow new Error('common')` },
    faulty({ message: 'common', path: 'a.cjs', line: 2, column: 7 }),
  ],
  [
    'a thrown text',
    { 'a.js': `throw 'words'; ${CODE}` },
    faulty({ message: expect.stringContaining('words') }),
  ],
  [
    'a late rejection',
    {
      'a.js': `await new Promise((go) => setTimeout(go, 5))\nawait Promise.reject(new Error('late'))\n${CODE}`,
    },
    faulty({ message: 'late', path: 'a.js', line: 2, column: 22 }),
  ],
  [
    'an await that never settles',
    { 'a.js': `await new Promise(() => {}); ${CODE}` },
    faulty({ message: expect.stringMatching(NEVER), path: 'a.js' }),
  ],
  [
    'an await that is left alone after a while',
    {
      'a.js': `await new Promise((go) => setTimeout(go, 5)); await new Promise(() => {}); ${CODE}`,
    },
    faulty({ message: expect.stringMatching(NEVER), path: 'a.js' }),
  ],
  [
    'an await that takes too long',
    { 'a.js': `await new Promise((go) => setTimeout(go, 60_000)); ${CODE}` },
    { kind: 'limit', what: 'timeoutMs', limit: 500 },
  ],
  [
    'a question to the service',
    { 'a.js': `\nawait fetch('https://x.test/'); ${CODE}` },
    faulty({ message: expect.stringContaining('"fetch" cannot be used while') }),
  ],
  [
    'a circle that is used too early',
    {
      'a.js': `import { b } from './b.js'\nexport const a = b\n${CODE}`,
      'b.js': `import { a } from './a.js'\nexport const b = a + 1`,
    },
    faulty({
      message: expect.stringContaining("'a' before initialization"),
      path: 'b.js',
      line: 2,
    }),
  ],
  [
    'another name',
    { 'a.js': 'export const helo = () => 1' },
    faulty({
      message: expect.stringMatching(/no handler "default".*it exports "helo"/),
      path: 'a.js',
    }),
  ],
  [
    'a handler that is no function',
    { 'a.js': '\nexport default { answer: 42 }' },
    faulty({ message: expect.stringContaining('is none'), path: 'a.js', line: 2, column: 8 }),
  ],
  ['an endless loop', { 'a.js': `for (;;); ${CODE}` }, { kind: 'limit', what: 'cpuMs' }],
]

describe('code that is loaded to be checked', () => {
  test.each(LOADS)('may have %s', async (_what, files) => {
    expect(await load(files)).toMatchObject({ ok: true })
  })

  test.each(FAILS)('fails with %s, by name and place', async (_what, files, failure) => {
    expect(await load(files)).toMatchObject({ ok: false, failure })
  })

  test('fails with more memory than it may have', async () => {
    const hoard = `const all = []; for (;;) all.push(new Array(100_000).fill(1)); ${CODE}`
    expect(await load({ 'a.js': hoard }, 'hoarder', 10_000)).toMatchObject({
      ok: false,
      failure: { kind: 'limit', what: 'memoryMb', limit: 64 },
    })
  })

  test('asks nothing of the service, and prints nothing', async () => {
    await load(
      { 'a.js': `console.log('x'); fetch('https://x.test').catch(() => {}); ${CODE}` },
      'quiet',
    )
    expect(sandbox.events.hostCalls).toEqual([])
    expect(sandbox.events.lines.filter(({ siteId }) => siteId === 'quiet')).toEqual([])
  })

  test('hurts no call, of its own site or of others, when it ends its process', async () => {
    const bomb = `const all = new Map(); for (let i = 0; ; i++) all.set({}, {}); ${CODE}`
    const own = sandbox.program(CODE, { siteId: 'bomber' })
    const { result, others } = await sandbox.beside(async () => {
      const bombs = Promise.all([
        load({ 'a.js': bomb }, 'bomber'),
        load({ 'a.js': bomb }, 'bomber'),
      ])
      const calls = [await sandbox.call(own)]
      const outcomes = await bombs
      calls.push(await sandbox.call(own))
      return { outcomes, calls, neighbour: await load({ 'a.js': CODE }, 'neighbour') }
    })
    for (const outcome of result.outcomes) {
      expect(outcome).toMatchObject({ ok: false, failure: { kind: 'limit' } })
    }
    expect([...result.calls, result.neighbour, ...others].filter(({ ok }) => !ok)).toEqual([])
    expect(sandbox.hosts.status().hosts.filter(({ role }) => role === 'quarantine')).toEqual([])
  })
})
