import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { scanArtifact } from '#sites/deployments/artifact-folder.ts'

import { bundleArtifact } from './bundle-artifact.ts'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'croft-bundled-')))
  await write('build.yml', 'ARTIFACT_DIR: site')
  await write('site/croft.json', definitionOf('functions/save.ts'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

/** A package of one file, in `node_modules` of the folder. */
async function install(name: string, code: string, manifest: object = {}): Promise<void> {
  const at = `node_modules/${name}`
  await write(`${at}/package.json`, JSON.stringify({ name, main: 'index.js', ...manifest }))
  await write(`${at}/index.js`, code)
}

const definitionOf = (...artifacts: readonly string[]): string =>
  JSON.stringify({
    resources: [
      { type: 'ddbTable', name: 'notes', config: {} },
      ...artifacts.map((artifact) => ({
        type: 'lambdaFunction',
        name: artifact,
        config: { artifact },
      })),
    ],
  })

const IMPORT_MAP = JSON.stringify({
  imports: {
    one: './lib/one.ts',
    'lib/': './lib/',
    'node:fs': './lib/one.ts',
    numbers: 'npm:adder@^1.2.0',
    'numbers/': 'npm:/adder@1/',
    again: 'adder',
    std: 'jsr:@std/path@1',
    far: 'https://deno.land/x/far.ts',
    process: 'node:process',
    absent: 'npm:@scope/absent@2/x.js',
    lost: './lib/lost.ts',
    outside: '../outside.ts',
  },
  scopes: { './admin/': { one: './admin/one.ts' } },
})

const save = (code: string): Promise<void> => write('site/functions/save.ts', code)

/** What is deployed: the texts by path, and what is said of the bundles. */
async function bundled(bound: readonly string[] = []) {
  const scanned = await scanArtifact(folder)
  await using made = await bundleArtifact({
    folder,
    artifact: scanned,
    bound,
    progress: () => {},
  })
  const texts = await Promise.all(
    made.artifact.files.map(async ({ path, absolutePath }) => [
      path,
      await readFile(absolutePath, 'utf8'),
    ]),
  )
  const files: Record<string, string> = Object.fromEntries(texts)
  const named = (suffix: string) =>
    Object.entries(files).find(([path]) => path.endsWith(suffix))?.[1] ?? ''
  return { files, named, bundles: made.bundles, paths: Object.keys(files) }
}

const refusal = async (): Promise<string> => {
  const error = await bundled().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof Error ? error.message : 'nothing was refused'
}

describe('a function', () => {
  test.each([
    ['without imports', 'export default () => 1'],
    ['with files of the artifact', "import { one } from '../lib/one'\nexport default () => one"],
    [
      'with types of a package',
      "import type { Handler } from 'croft'\nexport default 1 as Handler",
    ],
    ['that cannot be read', 'export default ((('],
    ['that imports a file that is not there', "import './gone.ts'"],
    ['with files by the import map', "import { one } from 'one'\nexport default () => one"],
    ['with files from the root on', "import { one } from '/lib/one'\nexport default () => one"],
  ])('%s is deployed as it is', async (_, code) => {
    await write('site/lib/one.ts', 'export const one = 1')
    await write('site/deno.json', IMPORT_MAP)
    await save(code)
    const { files, bundles, paths } = await bundled()
    expect(bundles).toEqual([])
    expect(paths).toEqual(['croft.json', 'deno.json', 'functions/save.ts', 'lib/one.ts'])
    expect(files['functions/save.ts']).toBe(code)
  })

  test('leads to a bundle with its packages and the files between, under its own path', async () => {
    await install('adder', 'export const add = (a, b) => a + b', { module: 'index.js' })
    await write(
      'site/lib/sum.ts',
      "import { add } from 'adder'\nexport const sum = (a, b) => add(a, b)",
    )
    await save("import { sum } from '../lib/sum.ts'\nexport const handler = () => sum(1, 2)")
    const { files, named, bundles } = await bundled()
    expect(files['functions/save.ts']).toMatch(
      /^export \{ handler \} from "\.\/save\.ts\.[0-9a-f]{12}\.bundle\.mjs"\n$/,
    )
    expect(named('.bundle.mjs')).toContain('handler')
    expect(bundles).toEqual([
      {
        artifact: 'functions/save.ts',
        sizeBytes: expect.any(Number),
        packages: [{ name: 'adder', sizeBytes: expect.any(Number) }],
        warnings: [],
      },
    ])
    const map = JSON.parse(named('.bundle.mjs.map'))
    expect(map.sources).toEqual(['../../node_modules/adder/index.js', '../lib/sum.ts', 'save.ts'])
    expect(map.sourcesContent).toEqual([
      null,
      expect.stringContaining('add(a, b)'),
      expect.any(String),
    ])
  })

  test('in CommonJS keeps what it exports by name', async () => {
    await install('adder', 'exports.add = (a, b) => a + b')
    await save("const { add } = require('adder')\nmodule.exports = { handler: () => add(1, 2) }")
    const { files, named } = await bundled()
    expect(files['functions/save.ts']).toMatch(
      /^module\.exports = require\("\.\/save\.ts\.[0-9a-f]{12}\.bundle\.cjs"\)\n$/,
    )
    expect(named('.bundle.cjs')).toContain('module.exports')
  })

  test('that exports nothing is still run', async () => {
    await install('adder', 'export const add = (a, b) => a + b', { module: 'index.js' })
    await save("import { add } from 'adder'\nDeno.serve(() => Response.json(add(1, 2)))")
    expect((await bundled()).files['functions/save.ts']).toMatch(
      /^import "\.\/save\.ts\.\w+\.bundle\.mjs"\n$/,
    )
  })

  test('that the site is bound to without its croft.json is bundled, too', async () => {
    await install('adder', 'exports.add = 1')
    await write('site/other.ts', "export { add as default } from 'adder'")
    await save('export default 1')
    const { bundles } = await bundled(['other.ts', 'gone.ts', '../escape.ts'])
    expect(bundles.map(({ artifact }) => artifact)).toEqual(['other.ts'])
  })

  test('that names a type of a package as a value is bundled without it', async () => {
    await save("import { Handler } from 'croft'\nexport default ((x) => x) as Handler")
    const { bundles } = await bundled()
    expect(bundles).toMatchObject([{ artifact: 'functions/save.ts', packages: [] }])
  })

  test('that imports a file of the artifact when it needs it has it in its bundle', async () => {
    await write('site/lib/one.ts', 'export const one = "the one"')
    await save("export default async () => (await import('../lib/one.ts')).one")
    const { named } = await bundled()
    expect(named('.bundle.mjs')).toContain('the one')
    expect(named('.bundle.mjs')).not.toContain('import(')
  })

  test('may import texts', async () => {
    await write('site/functions/page.html', '<p>Hello</p>')
    await save("import page from './page.html'\nexport default () => page")
    expect((await bundled()).named('.bundle.mjs')).toContain('<p>Hello</p>')
  })
})

describe('the import map', () => {
  beforeEach(async () => {
    await write('site/deno.json', IMPORT_MAP)
    await install('adder', "export const add = 'the adder'", { module: 'index.js' })
    await write('node_modules/adder/more.js', "export const add = 'more of it'")
    await write('node_modules/one/index.js', "export const one = 'a package of that name'")
    await write('site/lib/one.ts', "export const one = 'the one'")
    await write('site/admin/one.ts', "export const one = 'for administrators'")
  })

  test.each([
    ['a file', "import { one } from 'one'", 'the one'],
    ['a file of a folder', "import { one } from 'lib/one'", 'the one'],
    ['a file instead of a module of Node', "import { one } from 'node:fs'", 'the one'],
    ['a file that is required', "const one = require('one')", 'the one'],
    [
      'a file that another file names',
      "import { one } from '../admin/other.ts'",
      'for administrators',
    ],
    ['an installed package', "import { add as one } from 'numbers'", 'the adder'],
    [
      'a file of an installed package',
      "import { add as one } from 'numbers/more.js'",
      'more of it',
    ],
    ['a package by its name', "import { add as one } from 'again'", 'the adder'],
  ])('leads to %s in a bundle', async (_, code, text) => {
    await write('site/admin/other.ts', "export { one } from 'one'")
    await save(`${code}\nexport { one }\nexport { add } from 'adder'`)
    expect((await bundled()).named('.bundle.mjs')).toContain(text)
  })

  test('is no reason for a bundle, nor are JSON, text and bytes by their type', async () => {
    await write('site/lib/a.conf', '{}')
    await write('site/lib/b.txt', 'text')
    await write('site/lib/c.wasm', 'bytes')
    await save(`import json from 'lib/a.conf' with { type: 'json' }
      import text from '../lib/b.txt' with { type: 'text' }
      import bytes from '../lib/c.wasm' with { type: 'bytes' }
      import { one } from 'one'
      export default () => [json, text, bytes, one]`)
    expect((await bundled()).bundles).toEqual([])
  })

  test('is none for what packages import', async () => {
    await install('outer', "export { one } from 'one'", { module: 'index.js' })
    await save("export { one as default } from 'outer'")
    expect((await bundled()).named('.bundle.mjs')).toContain('a package of that name')
  })

  test('is not needed for a package that is named as Deno names it', async () => {
    await save("export { add as default } from 'npm:adder@1'")
    expect((await bundled()).bundles).toMatchObject([{ packages: [{ name: 'adder' }] }])
  })

  test.each([
    ['std', 'site/functions/save.ts:2:8: "std" is led by the import map to "jsr:@std/path@1": "jsr:@std/path@1" is of a scheme that is not known: install'],
    ['far', '"far" is led by the import map to "https://deno.land/x/far.ts": "https://deno.land/x/far.ts" is not fetched: install'],
    ['process', '"process" is led by the import map to "node:process": "node:process" is Node\'s own'],
    ['absent', 'site/functions/save.ts:2:8: "absent" is led by the import map to "npm:@scope/absent@2/x.js": the package "@scope/absent" is not installed: npm install @scope/absent'],
    ['lost', 'site/functions/save.ts:2:8: "functions/save.ts" imports "lost", which the import map leads to "/lib/lost.ts", which does not exist'],
    ['outside', '"functions/save.ts" imports "outside", which the import map leads to "../outside.ts", which leaves the artifact'],
    ['/gone.ts', '"functions/save.ts" imports "/gone.ts", which does not exist'],
  ])('leads from %s to what is refused', async (name, message) => {
    await save(`\nimport '${name}'`)
    expect(await refusal()).toContain(message)
  }) // prettier-ignore

  test('that cannot be read is refused', async () => {
    await write('site/deno.json', '{"imports":[]}')
    await save('export default 1')
    expect(await refusal()).toBe('"deno.json" "imports" must be an object of texts')
  })
})

test('a bundle holds what is imported as JSON, text and bytes, whatever it is', async () => {
  await install('adder', 'exports.add = 1')
  await write('site/deno.json', IMPORT_MAP)
  await write('site/lib/a.conf', '{"kind":"json"}')
  await write('site/lib/b.wasm', 'a module')
  await save(`import json from 'lib/a.conf' with { type: 'json' }
    import text from '../lib/a.conf' with { type: 'text' }
    import bytes from '../lib/b.wasm' with { type: 'bytes' }
    export { add } from 'adder'
    export default [json, text, bytes]`)
  const bundle = (await bundled()).named('.bundle.mjs')
  expect(bundle).toContain('{kind:"json"}')
  expect(bundle).toContain('{"kind":"json"}')
  expect(bundle).toContain('Uint8Array')
  expect(bundle).toContain(btoa('a module'))
})

describe('a package', () => {
  test('is found where a link of pnpm leads', async () => {
    const store = 'node_modules/.pnpm/adder@1.0.0'
    await write(`${store}/node_modules/adder/package.json`, '{"name":"adder","main":"index.js"}')
    await write(`${store}/node_modules/adder/index.js`, 'exports.add = () => 1')
    await symlink(join(folder, store, 'node_modules/adder'), join(folder, 'node_modules/adder'))
    await save("export { add as default } from 'adder'")
    expect((await bundled()).bundles).toMatchObject([{ packages: [{ name: 'adder' }] }])
  })

  test('is asked for what it offers to workers', async () => {
    await install('kinds', "export default 'neither'", {
      exports: { node: './node.js', worker: './worker.js', default: './index.js' },
    })
    await write('node_modules/kinds/worker.js', "export default 'for workers'")
    await write('node_modules/kinds/node.js', "import 'node:fs'")
    await save("export { default } from 'kinds'")
    expect((await bundled()).named('.bundle.mjs')).toContain('for workers')
  })

  test('is asked for what it has instead of Node’s own modules', async () => {
    await install('old', "require('fs')\nexports.kind = require('./node.js')", {
      browser: { fs: false, './node.js': './browser.js' },
    })
    await write('node_modules/old/node.js', "module.exports = require('net')")
    await write('node_modules/old/browser.js', "module.exports = 'for browsers'")
    await save("export { kind as default } from 'old'")
    expect((await bundled()).named('.bundle.mjs')).toContain('for browsers')
  })

  test.each([
    [
      'where it is never used',
      "import fs from 'node:fs'\nexport const read = () => fs.readFileSync('x')\nexport const add = 1",
    ],
    [
      'where it does without',
      "let fs\ntry { fs = require('fs') } catch {}\nexports.add = () => fs",
    ],
  ])('may name Node’s own modules %s', async (_, code) => {
    await install('adder', code, { module: 'index.js', sideEffects: false })
    await save("export { add as default } from 'adder'")
    expect((await bundled()).bundles).toHaveLength(1)
  })

  test('in development only is left out', async () => {
    await install(
      'checks',
      "if (process.env.NODE_ENV !== 'production') require('fs')\nexports.on = 1",
    )
    await save("export { on as default } from 'checks'")
    expect((await bundled()).named('.bundle.mjs')).not.toContain('process')
  })

  test('that asks for a computed name is bundled with a warning', async () => {
    await install('lazy', 'exports.load = (name) => require(name)')
    await save("export { load as default } from 'lazy'")
    expect((await bundled()).bundles).toMatchObject([
      {
        warnings: [
          expect.stringMatching(
            /^node_modules\/lazy\/index\.js:1:26: require\(\) of a name that is computed/,
          ),
        ],
      },
    ])
  })

  test('inside the artifact directory is not uploaded by itself', async () => {
    await write('site/node_modules/adder/index.js', 'exports.add = 1')
    await save("export { add as default } from 'adder'")
    const { paths } = await bundled()
    expect(paths.filter((path) => path.includes('node_modules'))).toEqual([])
    expect(paths).toHaveLength(4)
  })
})

describe('what cannot be bundled is refused', () => {
  const cases: [string, string, string][] = [
    [
      'a package that is not installed',
      "import { z } from 'zod/v4'\nexport default z",
      'site/functions/save.ts:1:19: the package "zod" is not installed: npm install zod',
    ],
    [
      'Node’s own module',
      "\n  import { createHash } from 'node:crypto'\nexport default createHash",
      `site/functions/save.ts:2:30: "node:crypto" is Node's own, and site code has no Node: use crypto.subtle`,
    ],
    [
      'a module with a package of its name',
      "import { EventEmitter } from 'events'\nexport default EventEmitter",
      'use EventTarget, or "npm install events", which does the same in plain JavaScript',
    ],
    [
      'Node’s own module in a package of a package',
      "import { open } from 'outer'\nexport default open",
      'node_modules/inner/index.js:1:22: "fs/promises" is Node\'s own, and site code has no Node: keep files in a bucket, or import a JSON or text file\n    import { read } from "fs/promises"\n  imported by site/functions/save.ts → outer → inner',
    ],
    [
      'a file that a package does not offer',
      "import 'outer/secret'\nimport 'inner/x.js'",
      '"inner/x.js" is not found: The path "./x.js" is not exported by package "inner"',
    ],
    ['an address', "import x from 'https://cdn.example/x.js'\nexport default x", '"https://cdn.example/x.js" is not fetched'],
    ['WebAssembly', "import 'outer'\nimport x from './a.wasm'\nexport default x", '"./a.wasm" is WebAssembly'],
    ['a compiled package', "import 'outer'\nimport x from './a.node'\nexport default x", '"./a.node" is compiled for Node'],
    ['a style sheet', "import 'outer'\nimport './a.css'", 'site/functions/save.ts:2:8: "./a.css" is a style sheet'],
    ['a picture', "import 'outer'\nimport './a.png'", '"site/functions/a.png" is of a kind that cannot be imported'],
    ['bad syntax beside packages', "import 'outer'\nimport '../lib/broken.ts'", 'site/lib/broken.ts:1:19: Unexpected end of file'],
    ['a value of what has only types', "import { Handler } from 'croft'\nexport default Handler", '"croft" has nothing but types: write "import type"'],
  ] // prettier-ignore

  test.each(cases)('%s', async (_, code, message) => {
    await install('outer', 'export { read as open } from "inner"', { module: 'index.js' })
    await install('inner', 'import { read } from "fs/promises"\nexport { read }', {
      exports: './index.js',
    })
    await write('site/functions/a.png', '')
    await write('site/lib/broken.ts', 'export default (((')
    await save(code)
    expect(await refusal()).toContain(message)
  })

  test('functions that are too large together, with what they are large of', async () => {
    await install('huge', `exports.text = ${JSON.stringify('x'.repeat(6_000_000))}`)
    await write('site/croft.json', definitionOf('functions/save.ts', 'functions/load.ts'))
    await write('site/functions/load.ts', "export { text as default } from 'huge'")
    await save("export { text as default } from 'huge'")
    expect(await refusal()).toMatch(
      /have 120\d{5} bytes together with what is bundled: 10485760 are allowed.*\n {2}functions\/\w+\.ts {2}60\d\d\.\d kB {2}huge 60\d\d\.\d kB/,
    )
  })
})
