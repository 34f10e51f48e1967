import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

type Files = Readonly<Record<string, string>>

const prepare = (entry: string, files: Files) =>
  sandbox.hosts.prepare('site', { entry, files: new Map(Object.entries(files)) })

/** Prepares the first file as the entry and calls it. */
async function runFiles(files: Files): Promise<unknown> {
  const [entry = ''] = Object.keys(files)
  const prepared = await prepare(entry, files)
  if (!prepared.ok) throw new Error(prepared.fault.message)
  const program = sandbox.programOf(prepared.modules, { fn: { entry } })
  return valueOf(await sandbox.call(program))
}

const WORKING: readonly (readonly [what: string, files: Files, result: unknown])[] = [
  [
    'TypeScript that imports TypeScript, with and without its extension',
    {
      'src/main.ts': `import { add, type Sum } from './math.ts'; import type { Nothing } from './types'
        import { one } from '../lib/one'
        export default (): Sum => add(one, 2 as number)`,
      'src/math.ts':
        'export type Sum = number; export const add = (a: number, b: number): Sum => a + b',
      'lib/one.js': 'export const one = 1',
    },
    3,
  ],
  [
    'a file that TypeScript would have emitted',
    {
      'main.ts': 'import { a } from "./a.js"; export default () => a',
      'a.ts': 'export const a: string = "a"',
    },
    'a',
  ],
  [
    'an index file and a JSON module',
    {
      'main.js':
        'import lib from "./lib"; import data from "./data.json" with { type: "json" }; export default () => [lib, data]',
      'lib/index.js': 'export default "lib"',
      'data.json': '{"n":1}',
    },
    ['lib', { n: 1 }],
  ],
  [
    'modules in a circle',
    {
      'a.js': 'import { b } from "./b.js"; export const a = () => "a"; export default () => b()',
      'b.js': 'import { a } from "./a.js"; export const b = () => a() + "b"',
    },
    'ab',
  ],
  [
    'CommonJS with require, JSON and a cycle',
    {
      'main.js':
        'const { twice } = require("./lib/twice"); const data = require("./data.json"); module.exports = () => twice(data.n)',
      'lib/twice.cjs':
        'const main = require("../main.js"); exports.twice = (n) => n * 2; exports.main = typeof main',
      'data.json': '{"n":21}',
    },
    42,
  ],
  [
    'an ES module that imports names of a CommonJS one',
    {
      'main.mjs':
        'import whole, { twice } from "./twice.cjs"; export default () => [twice(2), Object.keys(whole)]',
      'twice.cjs': 'exports.twice = (n) => n * 2',
    },
    [4, ['twice']],
  ],
  ['exports.handler', { 'main.cjs': 'exports.handler = async () => "handled"' }, 'handled'],
  [
    'a top-level await',
    {
      'main.js':
        'const late = await new Promise((go) => setTimeout(() => go("late"), 5)); export default () => late',
    },
    'late',
  ],
]

const REFUSED: readonly (readonly [what: string, files: Files, fault: object])[] = [
  [
    'a package',
    { 'main.js': '\nimport x from "lodash"; export default x' },
    {
      message: expect.stringMatching(/"main\.js" imports "lodash": only relative paths/),
      path: 'main.js',
      line: 2,
    },
  ],
  [
    'a built-in of Node',
    { 'main.cjs': 'require("node:fs")' },
    { message: expect.stringContaining('"node:fs"') },
  ],
  [
    'a URL',
    { 'main.js': 'import "https://x.test/a.js"; export default 1' },
    { message: expect.stringContaining('"https://x.test/a.js"') },
  ],
  [
    'a file outside of the artifact',
    { 'a/main.js': 'import "../../secret.js"; export default 1' },
    { message: expect.stringContaining('leaves the artifact') },
  ],
  [
    'a file that is not there',
    { 'main.js': 'import "./nope"; export default 1' },
    { message: '"main.js" imports "./nope", which does not exist', path: 'main.js', line: 1 },
  ],
  [
    'an export that is not there',
    { 'main.js': 'import { b } from "./a.js"; export default b', 'a.js': 'export const a = 1' },
    { message: expect.stringContaining("named 'b'") },
  ],
  [
    'bad syntax',
    { 'main.js': 'export default () => {\n\n  return (\n}' },
    { message: expect.any(String), path: 'main.js', line: 4 },
  ],
  [
    'bad syntax in an imported file',
    { 'main.js': 'import "./lib/a.js"; export default 1', 'lib/a.js': '\nlet a; let a' },
    { message: expect.stringContaining("'a'"), path: 'lib/a.js', line: 2 },
  ],
  [
    'bad CommonJS',
    { 'main.cjs': '\nmodule.exports = {' },
    { message: expect.any(String), path: 'main.cjs' },
  ],
  [
    'bad TypeScript',
    { 'main.ts': '\n\nconst a: = 1' },
    { message: expect.any(String), path: 'main.ts', line: 3, column: 10 },
  ],
  [
    'bad TypeScript after a tab',
    { 'main.ts': '\n\tconst a: = 1' },
    { message: expect.any(String), path: 'main.ts', line: 2, column: 11 },
  ],
  [
    'TypeScript that breaks off',
    { 'main.ts': 'export default (' },
    { message: expect.any(String), path: 'main.ts', line: 1, column: 17 },
  ],
  [
    'bad JSON',
    { 'main.js': 'import a from "./a.json"; export default a', 'a.json': '{' },
    { message: expect.stringContaining('"a.json" is not JSON'), path: 'a.json' },
  ],
  [
    'a required ES module',
    { 'main.cjs': 'require("./a.mjs")', 'a.mjs': 'export default 1' },
    { message: expect.stringContaining('is an ES module'), path: 'main.cjs' },
  ],
]

describe('a function made of', () => {
  test.each(WORKING)('%s runs', async (_what, files, result) => {
    expect(await runFiles(files)).toEqual(result)
  })

  test.each(REFUSED)('%s is refused by name and place', async (_what, files, fault) => {
    const [entry = ''] = Object.keys(files)
    expect(await prepare(entry, files)).toEqual({
      ok: false,
      fault: expect.objectContaining(fault),
    })
  })

  test('many files keeps only those that it reaches', async () => {
    const prepared = await prepare('main.js', {
      'main.js': 'import "./used.js"; export default 1',
      'used.js': '',
      'unused.js': 'this is not even JavaScript',
    })
    expect(prepared).toMatchObject({
      ok: true,
      modules: [{ path: 'main.js' }, { path: 'used.js' }],
    })
  })

  test('an entry that is not there is refused', async () => {
    expect(await prepare('nope.js', {})).toMatchObject({
      fault: { message: 'The entry "nope.js" does not exist' },
    })
  })

  test('dynamic imports gets a rejection that says why', async () => {
    const outcome = await sandbox.run('export default () => import("./other.js")')
    expect(outcome).toMatchObject({
      failure: { kind: 'thrown', message: expect.stringMatching(/not supported/i) },
    })
  })
})
