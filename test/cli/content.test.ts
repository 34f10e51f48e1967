import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openS3Store } from '#test/object-stores.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

describe.each(['files', 'S3'])('with objects in %s, croft', (kind) => {
  const started = new AsyncDisposableStack()
  let stack: Stack
  let env: Record<string, string>
  let folder: string
  let site: RuntimeSite
  beforeAll(async () => {
    const s3 = kind === 'S3' ? started.use(await openS3Store()) : undefined
    const { store } = s3 ?? {}
    stack = started.use(
      await startStack({ platform: store ? { openObjects: async () => store } : {} }),
    )
    env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
    folder = await mkdtemp(join(tmpdir(), 'croft-content-'))
    site = await RuntimeSite.open(stack, 'one.test')
    const partitionKey = { name: 'id', type: 'S' }
    await site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'menu',
      config: { partitionKey },
    })
    await site.admin('POST', '/resources', { type: 's3Bucket', name: 'media' })
    await site.publish('env', 'export default () => Deno.env.get("API_KEY") ?? null')
  }, 60_000)
  afterAll(async () => {
    await started.disposeAsync()
    await rm(folder, { recursive: true, force: true })
  })

  const run = (...args: string[]) => croft(args, env)
  const file = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }

  test('sets, lists and deletes environment variables, and shows no secret', async () => {
    const path = await file('key', 'hunter2-hunter2\n')
    expect(await run('env', 'set', 'one.test', 'API_KEY', '--file', path)).toEqual({
      code: 0,
      out: 'Set API_KEY. Functions see it now.\n',
      err: '',
    })
    await run('env', 'set', 'one.test', 'MODE', '--file', path, '--secret', 'off')
    const { out } = await run('env', 'list', 'one.test')
    expect(out).toMatch(/^API_KEY +\(secret\)\nMODE +hunter2-hunter2\n$/)
    expect(await run('env', 'list', 'two.test')).toMatchObject({ out: /No variable yet/ })
    expect(await run('env', 'unset', 'one.test', 'API_KEY')).toMatchObject({
      code: 0,
      out: 'Deleted API_KEY. Functions no longer see it.\n',
    })
    expect(await run('env', 'unset', 'one.test', 'API_KEY')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'There is no variable "API_KEY": "croft env list one.test" lists them',
      ),
    })
  })

  test('sets a variable with a deploy token that may apply definitions, and with no other', async () => {
    const path = await file('value', 'v')
    for (const [scope, code] of [
      ['iac', 0],
      ['deploy', 1],
    ] as const) {
      const made = await run(
        'deploy-token',
        'create',
        'one.test',
        '--name',
        scope,
        '--scope',
        scope,
        '--json',
      )
      const token = { ...env, CROFT_DEPLOY_TOKEN: JSON.parse(made.out).token }
      const set = await croft(['env', 'set', 'one.test', 'FROM_CI', '--file', path], token)
      expect(set, set.err).toMatchObject({ code })
    }
  })

  test('never takes the value of a variable as a word', async () => {
    const { code, err } = await run('env', 'set', 'one.test', 'API_KEY', 'value')
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('one word too many'),
    })
  })

  test('imports and exports the items of a table, each number with all of its digits', async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `{"id":"dish-${at}","price":${at}.5}`)
    const path = await file(
      'menu.jsonl',
      `${lines.join('\n')}\n\n{"id":"exact","n":12345678901234567890123456789012345678}\n`,
    )
    expect(await run('table', 'import', 'one.test', 'menu', '--file', path)).toMatchObject({
      code: 0,
      out: 'Wrote 61 items to menu.\n',
    })
    const { out } = await run('table', 'export', 'one.test', 'menu')
    const items = out.trim().split('\n')
    expect(items).toHaveLength(61)
    expect(items).toContain(
      '{"id":"exact","n":{"$number":"12345678901234567890123456789012345678"}}',
    )
    const again = await file('again.jsonl', out)
    expect(await run('table', 'import', 'one.test', 'menu', '--file', again)).toMatchObject({
      code: 0,
    })
    expect((await run('table', 'export', 'one.test', 'menu')).out).toBe(out)
  })

  test('reads and writes one item', async () => {
    expect(await run('table', 'put', 'one.test', 'menu', '{"id":"soup","price":4}')).toMatchObject({
      code: 0,
    })
    const { out } = await run('table', 'get', 'one.test', 'menu', '{"id":"soup"}')
    expect(JSON.parse(out)).toEqual({ id: 'soup', price: 4 })
    expect((await run('table', 'list', 'one.test')).out).toMatch(/^menu +id S +res_/)
  })

  test.each<[string, readonly string[], number, string]>([
    [
      'a table that is not there',
      ['table', 'export', 'one.test', 'mneu'],
      1,
      'one.test has no table "mneu": it has menu',
    ],
    ['a key that is no JSON', ['table', 'get', 'one.test', 'menu', 'id'], 2, 'KEY is not JSON'],
    [
      'no item with the key',
      ['table', 'get', 'one.test', 'menu', '{"id":"none"}'],
      1,
      'has no item with that key',
    ],
    [
      'an item without its key',
      ['table', 'put', 'one.test', 'menu', '{"a":1}'],
      1,
      'ValidationError',
    ],
    [
      'a bucket of another site',
      ['bucket', 'ls', 'two.test', 'media'],
      1,
      'two.test has no bucket "media"',
    ],
    ['two files', ['bucket', 'cp', 'one.test', 'a', 'b'], 2, 's3://BUCKET/KEY'],
    [
      'an object that is not there',
      ['bucket', 'cp', 'one.test', 's3://media/none', '-'],
      1,
      'one.test has no object s3://media/none',
    ],
    ...['import', 'put'].map((name): [string, readonly string[], number, string] => [
      `no file for table ${name}`,
      ['table', name, 'one.test', 'menu', '--file', '/nowhere'],
      1,
      'The file "/nowhere" cannot be read (ENOENT)',
    ]),
    [
      'a folder for table import',
      ['table', 'import', 'one.test', 'menu', '--file', tmpdir()],
      1,
      'cannot be read (EISDIR)',
    ],
    [
      'no file to copy',
      ['bucket', 'cp', 'one.test', '/nowhere', 's3://media/x'],
      1,
      'The file "/nowhere" cannot be read (ENOENT)',
    ],
    [
      'no file with the value of a variable',
      ['env', 'set', 'one.test', 'MODE', '--file', '/nowhere'],
      1,
      'The file "/nowhere" cannot be read (ENOENT)',
    ],
  ])('says what is wrong with %s', async (_what, args, code, message) => {
    expect(await run(...args)).toMatchObject({ code, err: expect.stringContaining(message) })
  })

  test('names the line of an item that cannot be imported, and what is written before it', async () => {
    const good = Array.from({ length: 25 }, (_, at) => `{"id":"good-${at}"}`)
    const path = await file('bad.jsonl', [...good, '{"id":"x"}', '{"name":"no key"}'].join('\n'))
    const { code, err } = await run('table', 'import', 'one.test', 'menu', '--file', path)
    expect(code).toBe(1)
    expect(err).toMatch(/line 27: /)
    expect(err).toContain('26 items of earlier lines are written')
    const array = await file('array.json', '[{"id":"a"}]')
    expect((await run('table', 'import', 'one.test', 'menu', '--file', array)).err).toContain(
      'is a JSON array',
    )
  })

  test('copies files into a bucket and objects out of it, byte for byte', async () => {
    const bytes = randomBytes(7 * 1024 * 1024)
    const path = await file('photo.png', bytes)
    const copied = await run('bucket', 'cp', 'one.test', path, 's3://media/2026/')
    expect(copied, copied.err).toMatchObject({
      code: 0,
      out: `${path} is s3://media/2026/photo.png now (${bytes.byteLength} bytes, image/png).\n`,
    })
    const back = join(folder, 'back.png')
    expect(await run('bucket', 'cp', 'one.test', 's3://media/2026/photo.png', back)).toMatchObject({
      code: 0,
    })
    expect((await readFile(back)).equals(bytes)).toBe(true)
    expect((await run('bucket', 'ls', 'one.test', 'media')).out.trim()).toBe('2026/')
    expect((await run('bucket', 'ls', 'one.test', 'media', '--recursive')).out).toContain(
      '2026/photo.png',
    )
    const missing = join(folder, 'missing')
    await run('bucket', 'cp', 'one.test', 's3://media/none', missing)
    expect(await readdir(folder)).not.toContain('missing')
  })
})
