import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

type Files = Readonly<Record<string, string>>

/** The first file is the entry. */
const prepare = (files: Files) => {
  const [entry = ''] = Object.keys(files)
  return sandbox.hosts.prepare('site', { entry, files: new Map(Object.entries(files)) })
}

async function programOf(files: Files) {
  const prepared = await prepare(files)
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.fault))
  return sandbox.programOf(prepared.modules)
}

const runFiles = async (files: Files): Promise<unknown> =>
  valueOf(await sandbox.call(await programOf(files)))

const JSX_RUNTIME = `
  export const Fragment = (props: { children?: unknown }) => props.children
  export const jsx = (type: unknown, props: object, key?: string) => ({ type, props, key })
  export const jsxs = jsx`
const DECORATED = `
  const log: string[] = []
  function seen(value: any, context: any) { log.push(typeof context === 'string' ? 'legacy ' + context : context.kind + ' ' + context.name) }
  class A { @seen a() { return 1 } }
  export default () => [...log, new A().a()]`

const WORKING: readonly (readonly [what: string, files: Files, result: unknown])[] = [
  [
    'enums, of numbers, texts and constants',
    {
      'main.ts': `enum Colour { red, green = 'g' }
        const enum Size { small = 3 }
        export default () => [Colour.red, Colour[0], Colour.green, Size.small]`,
    },
    [0, 'red', 'g', 3],
  ],
  ['a namespace', { 'main.ts': 'namespace N { export const a = 1 }\nexport default () => N.a' }, 1],
  [
    'parameter properties',
    {
      'main.ts': `class Point { constructor(readonly x: number, private y = 2) {} sum() { return this.x + this.y } }
        export default () => new Point(1).sum()`,
    },
    3,
  ],
  [
    'an import that is CommonJS',
    { 'main.ts': 'import a = require("./a.cjs")\nexport = () => a.b', 'a.cjs': 'exports.b = 4' },
    4,
  ],
  [
    'ES syntax in a file that is CommonJS',
    {
      'main.cts': 'import { b } from "./a.cjs"\nexport default (): number => b',
      'a.cjs': 'exports.b = 4',
    },
    4,
  ],
  [
    'an import of what is only a type, and does not say so',
    {
      'main.ts': 'import { Sum } from "./types.ts"\nexport default (): Sum => 5',
      'types.ts': 'export type Sum = number',
    },
    5,
  ],
  [
    'using',
    {
      'main.ts': `export default () => {
        const log: string[] = []
        { using held = { [Symbol.dispose]: () => void log.push('disposed') }; log.push(typeof held) }
        return log
      }`,
    },
    ['object', 'disposed'],
  ],
  ["the language's decorators", { 'main.ts': DECORATED }, ['method a', 1]],
  [
    "TypeScript's decorators, if the settings say so",
    {
      'src/main.ts': DECORATED,
      'tsconfig.json': '{ // as before\n "compilerOptions": { "experimentalDecorators": true, } }',
    },
    ['legacy a', 1],
  ],
  [
    'an accessor',
    { 'main.ts': 'class A { accessor a: number = 6 }\nexport default () => new A().a' },
    6,
  ],
  [
    'JSX with a function of its own',
    {
      'main.jsx': `/** @jsx h */
        const h = (...parts) => parts
        export default () => <a b="1">two</a>`,
    },
    ['a', { b: '1' }, 'two'],
  ],
  [
    'TSX with the automatic runtime of the artifact, whatever folder it is in',
    {
      'functions/page.tsx': `import { Box } from '../box'
        export default () => [<p id="x">{1 as number}</p>, <Box />.type()]`,
      'box.tsx': 'export const Box = () => <><b /></>',
      'deno.json':
        '{ "compilerOptions": { "jsx": "react-jsx", "jsxImportSource": "./lib" }, "tasks": {} }',
      'lib/jsx-runtime.ts': JSX_RUNTIME,
    },
    [
      { type: 'p', props: { id: 'x', children: 1 } },
      { props: { children: { type: 'b', props: {} } } },
    ],
  ],
]

describe('TypeScript with', () => {
  test.each(WORKING)('%s runs', async (_what, files, result) => {
    expect(await runFiles(files)).toEqual(result)
  })
})

const REFUSED: readonly (readonly [what: string, files: Files, fault: object])[] = [
  [
    'JSX that breaks off',
    { 'main.tsx': '\nexport default () => <a>é</b>' },
    { path: 'main.tsx', line: 2, column: 28, message: expect.stringContaining('"a"') },
  ],
  [
    'a decorator that breaks off',
    { 'main.ts': 'class A {\n  @seen( a() {} }' },
    { path: 'main.ts', line: 2, message: expect.any(String) },
  ],
  [
    'an export that is not there',
    {
      'main.ts': '\nenum A { a }\nimport { b } from "./a.ts"\nexport default () => [A, b]',
      'a.ts': 'enum B { b }',
    },
    { path: 'main.ts', line: 3, column: 10, message: expect.stringContaining("named 'b'") },
  ],
  [
    'a file that is not there',
    { 'main.tsx': '\n\nimport { b } from "./nope"\nexport default () => <a>{b}</a>' },
    { path: 'main.tsx', line: 3, message: '"main.tsx" imports "./nope", which does not exist' },
  ],
  [
    'more than is transformed',
    { 'main.ts': `enum A { a } /*${' '.repeat(1024 * 1024)}*/` },
    { path: 'main.ts', message: expect.stringContaining('split it') },
  ],
]

describe('TypeScript that needs transforming, with', () => {
  test.each(REFUSED)('%s is refused by name and place', async (_what, files, fault) => {
    expect(await prepare(files)).toEqual({ ok: false, fault: expect.objectContaining(fault) })
  })

  test('nothing but types in it stays where it is', async () => {
    const code = 'export default (a: number) => a'
    expect(await prepare({ 'main.ts': code })).toEqual({
      ok: true,
      modules: [{ path: 'main.ts', format: 'esm', code: 'export default (a        ) => a' }],
    })
  })
})
