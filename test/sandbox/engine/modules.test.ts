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
    'JSON, text and bytes, whatever the names of their files',
    {
      'main.ts': `import json from './a.conf' with { type: 'json' }
        import text from './notes.md' with { type: 'text' }
        import bytes from './pixel.png' with { type: 'bytes' }
        import source from './other.ts' with { type: 'text' }
        export default () => [json, text, bytes instanceof Uint8Array, [...bytes], source]`,
      'a.conf': '{"n":1}',
      'notes.md': '# "ü"',
      'pixel.png': 'data:;base64,iVD/',
      'other.ts': 'export const a: string = 1',
    },
    [{ n: 1 }, '# "ü"', true, [137, 80, 255], 'export const a: string = 1'],
  ],
  [
    'what the import map of deno.json leads to',
    {
      'functions/main.ts': `import { a } from 'lib/a.ts'; import b from 'b'; import c from '../old.ts'
        import text from 'notes' with { type: 'text' }
        export default () => [a, b, c, text, import.meta.url]`,
      'deno.json': `{ "imports": { "lib/": "./lib/", "b": "./b/index.ts", "./old.ts": "./new.ts", "notes": "./notes.txt" },
        // only for the folder lib
        "scopes": { "./lib/": { "b": "./lib/b.ts" } } }`,
      'lib/a.ts': 'import b from "b"; export const a = `a with ${b}`',
      'lib/b.ts': 'export default "its own b"',
      'b/index.ts': 'export default "b"',
      'new.ts': 'export default "new"',
      'notes.txt': 'mapped text',
    },
    ['a with its own b', 'b', 'new', 'mapped text', 'file:///site/functions/main.ts'],
  ],
  [
    'import.meta of each module',
    {
      'functions/main.ts': `import { meta } from '../lib/a.ts'
        const own = import.meta
        export default () => [own === import.meta, Object.keys(own), own.url, own.main, own.filename, own.dirname, own.resolve('./b.ts'), own.resolve('../c d.ts'), own.resolve('npm:x'), meta.url, meta.main, Deno.mainModule, Deno.cwd(),
          [() => own.resolve('bare'), () => __croftMetaOf].map((f) => { try { return f() } catch (e) { return e.name } })]`,
      'lib/a.ts': 'export const { meta } = { meta: import.meta }',
    },
    [
      true,
      ['url', 'main', 'resolve', 'filename', 'dirname'],
      'file:///site/functions/main.ts',
      true,
      '/site/functions/main.ts',
      '/site/functions',
      'file:///site/functions/b.ts',
      'file:///site/c%20d.ts',
      'npm:x',
      'file:///site/lib/a.ts',
      false,
      'file:///site/functions/main.ts',
      '/site',
      ['TypeError', 'ReferenceError'],
    ],
  ],
  [
    'the files of its artifact, when it is called',
    {
      'functions/main.ts': `const atLoad = Deno.readTextFileSync(new URL('../data/a b.txt', import.meta.url))
        const told = async (read) => { try { return await read() } catch (e) { return [e.name, e instanceof Deno.errors[e.name], e.code ?? null] } }
        export default async () => [atLoad, await Deno.readTextFile('./data/../data/a b.txt'), [...Deno.readFileSync('/site/data/raw.bin')], JSON.parse(await Deno.readTextFile('data.json')),
          await told(() => Deno.readTextFile('../etc/passwd')), await told(() => Deno.readTextFile('/proc/self/environ')), await told(() => Deno.readTextFile('data/none.txt')), await told(() => Deno.readTextFile('functions/main.ts')), await told(() => Deno.readFile('croft:file:data.json'))]`,
      'data/a b.txt': 'text ü',
      'data/raw.bin': 'data:;base64,AP8=',
      'data.json': '{"n":1}',
    },
    [
      'text ü',
      'text ü',
      [0, 255],
      { n: 1 },
      ['NotCapable', true, null],
      ['NotCapable', true, null],
      ['NotFound', true, 'ENOENT'],
      ['NotFound', true, 'ENOENT'],
      ['NotFound', true, 'ENOENT'],
    ],
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
