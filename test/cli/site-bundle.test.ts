import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { type Ran, croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
let temporary: string
let folder: string
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  temporary = await mkdtemp(join(tmpdir(), 'croft-site-bundle-'))
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(temporary, { recursive: true, force: true })
})
beforeEach(async () => {
  folder = await mkdtemp(join(temporary, 'from-'))
  await write('build.yml', 'ARTIFACT_DIR: dist\n')
  await write('node_modules/adder/package.json', '{"name":"adder","main":"index.js"}')
  await write('node_modules/adder/index.js', 'exports.add = (a, b) => a + b')
  await write('dist/functions/add.ts', ADD)
  await write('dist/croft.json', JSON.stringify(DEFINITION))
})

const ADD = `import { add } from 'adder'
export default ({ payload }: { payload: [number, number] }) => add(...payload)
`
const DEFINITION = {
  resources: [{ type: 'lambdaFunction', name: 'add', config: { artifact: 'functions/add.ts' } }],
  operations: [{ operation: 'add', lambdaResource: 'add', auth: { mode: 'public' } }],
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

async function newSite(domain: string): Promise<RuntimeSite> {
  await stack.createSite({
    domain,
    superAdmins: [`ann@${domain}`],
    sourceMode: 'SITE_GIT',
    repoBinding: { branch: 'main', artifactDirectory: 'dist' },
  })
  return RuntimeSite.open(stack, domain)
}

const run = (...args: string[]): Promise<Ran> => croft(args, env)
const deploymentsOf = async (domain: string): Promise<unknown> =>
  (await stack.portal('GET', `/sites/${domain}/deployments`)).json.items

/** What Deno's import map names, and files that are no code: the same whether the function is bundled or not. */
const READER = `import { twice } from 'numbers'
import text from 'lib/notes.txt' with { type: 'text' }
import bytes from '../lib/bytes.bin' with { type: 'bytes' }
import json from '/lib/rates.conf' with { type: 'json' }

const refused = (path: string) =>
  Deno.readTextFile(path).catch((error: unknown) => [
    error instanceof Deno.errors.NotCapable,
    error instanceof Deno.errors.NotFound,
  ])

export default async () => ({
  imported: [twice(21), text, bytes instanceof Uint8Array, [...bytes], json],
  read: await Deno.readTextFile('./lib/notes.txt'),
  above: await refused('../../etc/passwd'),
  absent: await refused('./lib/absent.txt'),
})
`

describe('croft site deploy', () => {
  test('follows the import map, and reads files of the artifact, in functions with packages and without', async () => {
    const site = await newSite('mapped.test')
    await write('dist/functions/plain.ts', READER)
    await write('dist/functions/packed.ts', `import 'adder'\n${READER}`)
    await write(
      'dist/deno.jsonc',
      '{ "imports": { "numbers": "./lib/twice.ts", "lib/": "./lib/" } }',
    )
    await write('dist/lib/twice.ts', 'export const twice = (value: number) => 2 * value')
    await write('dist/lib/notes.txt', 'Grüße')
    await write('dist/lib/bytes.bin', '\0\u0001é')
    await write('dist/lib/rates.conf', '{"rate":7}')
    const names = ['plain', 'packed']
    const definition = {
      resources: names.map((name) => ({
        type: 'lambdaFunction',
        name,
        config: { artifact: `functions/${name}.ts` },
      })),
      operations: names.map((name) => ({
        operation: name,
        lambdaResource: name,
        auth: { mode: 'public' },
      })),
    }
    await write('dist/croft.json', JSON.stringify(definition))
    const ran = await run('site', 'deploy', 'mapped.test', '--from', folder, '--json')
    expect(ran).toMatchObject({ code: 0 })
    expect(JSON.parse(ran.out).bundles).toMatchObject([{ artifact: 'functions/packed.ts' }])
    for (const name of names) {
      expect((await site.call(name)).json).toEqual({
        ok: true,
        data: {
          imported: [42, 'Grüße', true, [0, 1, 195, 169], { rate: 7 }],
          read: 'Grüße',
          above: [true, false],
          absent: [false, true],
        },
      })
    }
  })

  test('tells what it bundled, and leaves the folder as it was', async () => {
    const site = await newSite('told.test')
    const ran = await run('site', 'deploy', 'told.test', '--from', folder)
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.out).toMatch(
      /^Functions with their packages:\n {2}functions\/add\.ts {2}\d\.\d kB {2}adder 0\.\d kB\nDeployed dep_/,
    )
    expect(await readFile(join(folder, 'dist/functions/add.ts'), 'utf8')).toBe(ADD)
    expect((await site.call('add', [2, 3])).json).toEqual({ ok: true, data: 5 })
    expect(await json('site', 'deploy', 'told.test', '--from', folder)).toMatchObject({
      uploaded: 0,
      bundles: [{ artifact: 'functions/add.ts', packages: [{ name: 'adder' }], warnings: [] }],
    })
  })

  test('bundles functions that were bound without croft.json', async () => {
    const site = await newSite('bound.test')
    await write('dist/croft.json', '{}')
    await write('dist/functions/add.ts', 'export default () => 0')
    await run('site', 'deploy', 'bound.test', '--from', folder)
    const lambdaResourceId = await site.admin('POST', '/resources', {
      type: 'lambdaFunction',
      name: 'add',
      config: { artifact: 'functions/add.ts' },
    })
    await site.putOperation('add', {
      lambdaResourceId: lambdaResourceId.json.resourceId,
      auth: { mode: 'public' },
    })
    await write('dist/functions/add.ts', ADD)
    const ran = await run('site', 'deploy', 'bound.test', '--from', folder)
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('functions/add.ts') })
    expect((await site.call('add', [2, 3])).json).toEqual({ ok: true, data: 5 })
  })

  test('bundles what a function imports when it needs it', async () => {
    const site = await newSite('lazy.test')
    await write('dist/lib/one.ts', 'export const one = 1')
    await write(
      'dist/functions/add.ts',
      "export default async () => (await import('../lib/one.ts')).one",
    )
    expect(await run('site', 'deploy', 'lazy.test', '--from', folder)).toMatchObject({ code: 0 })
    expect((await site.call('add')).json).toEqual({ ok: true, data: 1 })
  })

  test('refuses before anything is announced', async () => {
    await newSite('refused.test')
    await write('dist/functions/add.ts', `import 'node:fs'\n${ADD}`)
    await rm(join(folder, 'node_modules'), { recursive: true })
    const ran = await run('site', 'deploy', 'refused.test', '--from', folder)
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain(
      'the functions cannot be bundled with their packages; nothing was changed',
    )
    expect(ran.err).toContain('dist/functions/add.ts:1:8: "node:fs" is Node\'s own')
    expect(ran.err).toContain(
      'add.ts:2:21: the package "adder" is not installed: npm install adder',
    )
    expect(await deploymentsOf('refused.test')).toEqual([])
  })
})

describe('croft site bundle', () => {
  test('writes what can be deployed where no packages are installed', async () => {
    const site = await newSite('pushed.test')
    const out = await mkdtemp(join(temporary, 'out-'))
    await mkdir(join(out, '.git'))
    const ran = await run('site', 'bundle', '--from', folder, '--out', out)
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(/adder 0\.\d kB\nWrote 4 files to ".*\/dist"\n$/)
    expect((await readdir(join(out, 'dist/functions'))).toSorted()).toEqual([
      'add.ts',
      expect.stringMatching(/^add\.ts\.[0-9a-f]{12}\.bundle\.mjs$/),
      expect.stringMatching(/^add\.ts\.[0-9a-f]{12}\.bundle\.mjs\.map$/),
    ])
    expect(await json('site', 'deploy', 'pushed.test', '--from', out)).toMatchObject({
      bundles: [],
    })
    expect((await site.call('add', [2, 3])).json).toEqual({ ok: true, data: 5 })

    await write('dist/functions/add.ts', 'export default () => 1')
    expect(await run('site', 'bundle', '--from', folder, '--out', out)).toMatchObject({ code: 0 })
    expect(await readdir(join(out, 'dist/functions'))).toEqual(['add.ts'])
  })

  test('bundles further functions that are named', async () => {
    await write('dist/more.ts', ADD)
    const out = join(folder, 'out')
    const args = ['--from', folder, '--out', out, '--entry', 'more.ts']
    const { bundles } = await json('site', 'bundle', ...args)
    expect(bundles.map(({ artifact }: { artifact: string }) => artifact)).toEqual([
      'functions/add.ts',
      'more.ts',
    ])
    expect(await run('site', 'bundle', ...args, '--entry', 'gone.ts')).toMatchObject({
      code: 1,
      err: 'croft site bundle: --entry "gone.ts" is no file of the artifact directory\n',
    })
  })

  test('writes over nothing that it did not write', async () => {
    const other = await mkdtemp(join(temporary, 'other-'))
    await writeFile(join(other, 'notes.md'), 'mine')
    const refused = [
      [
        other,
        'holds "notes.md": --out takes an empty folder, or one that this command has written',
      ],
      [folder, 'overlap'],
      [join(folder, 'dist/out'), 'overlap'],
    ]
    for (const [out = '', message] of refused) {
      expect(await run('site', 'bundle', '--from', folder, '--out', out)).toMatchObject({
        code: 1,
        err: expect.stringContaining(message ?? ''),
      })
    }
    expect(await readFile(join(other, 'notes.md'), 'utf8')).toBe('mine')
    expect(await readFile(join(folder, 'dist/functions/add.ts'), 'utf8')).toBe(ADD)
  })
})

async function json(...args: string[]) {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(ran.err)
  return JSON.parse(ran.out)
}
