import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { testOn } from '#test/on-runtimes.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { Script } from '#test/runtimes.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { type InstalledSdk, installSdk } from './installed-sdk.ts'

const run = promisify(execFile)
const HOST = 'localhost'
const HELLO = `export default ({ payload }) => {
  if (typeof payload?.name !== 'string') throw { statusCode: 422, code: 'NoName', message: 'Say a name' }
  return { message: 'Hello, ' + payload.name }
}`
const ECHO = `export default ({ payload, auth }) => ({ payload, by: auth.username })`
const NOTES = new URL('../../examples/hello-site/site/functions/notes.ts', import.meta.url)
const SLOW = `export default () => new Promise((resolve) => setTimeout(resolve, 60_000))`

const resources = new AsyncDisposableStack()
let stack: Stack
let sdk: InstalledSdk
let tokens: readonly [visitor: string, admin: string]
beforeAll(async () => {
  stack = resources.use(await startStack({ sites: [HOST] }))
  sdk = resources.use(await installSdk())
  const site = await RuntimeSite.open(stack, HOST)
  await site.publish('hello', HELLO)
  await site.publish('slow', SLOW)
  const lambdaResourceId = await site.putFunction('echo', ECHO)
  await site.putOperation('echo', { lambdaResourceId, auth: { mode: 'authenticated' } })
  await publishNotes(site)
  await site.synced()
  tokens = [
    await stack.dataToken(HOST, { user: 'vic@else.test' }),
    await stack.adminToken(HOST, 'admin'),
  ]
})
afterAll(() => resources.disposeAsync())

async function publishNotes(site: RuntimeSite): Promise<void> {
  const { json } = await site.admin('POST', '/resources', {
    type: 'ddbTable',
    name: 'notes',
    config: { partitionKey: { name: 'owner', type: 'S' }, sortKey: { name: 'at', type: 'S' } },
  })
  const resources = [{ resourceId: json.resourceId, access: 'readWrite' }]
  const lambdaResourceId = await site.putFunction('keepNotes', await readFile(NOTES, 'utf8'), {
    resources,
  })
  await site.putOperation('notes', { lambdaResourceId, auth: { mode: 'authenticated' } })
}

describe('the installed SDK', () => {
  testOn(['node', 'bun', 'deno'], 'calls a site from %s', async (runtime) => {
    await using script = new Script(runtime, sdk.script, [stack.baseUrl(HOST), ...tokens])
    expect(await script.next()).toEqual({
      hello: { message: 'Hello, Ada' },
      echo: { payload: { x: 'ü' }, by: 'vic@else.test' },
      groups: ['editors', 'readers'],
      failures: [
        '404 OperationNotFound',
        '422 NoName',
        '401 Unauthorized',
        '401 Unauthorized',
        '400 ValidationError',
      ],
      aborted: 'enough',
    })
  })

  test('carries the example', async () => {
    await using script = new Script('node', sdk.example, [stack.baseUrl(HOST), tokens[0]])
    expect(await script.next()).toEqual(['Hello, Ada'])
  })

  test('has types that a program outside the repository is checked by', async () => {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    )
    const check = async (name: string, line: string) => {
      const program = `import { createClient } from 'croft-sdk'
import { createServerClient } from 'croft-sdk/server'
const options = { baseUrl: 'https://shop.test' }
export const [client, server] = [createClient(options), createServerClient(options)]
${line}\n`
      await writeFile(join(sdk.folder, name), program)
      const settings = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2023,dom']
      return run(process.execPath, [compiler, ...settings, name], { cwd: sdk.folder }).then(
        () => '',
        ({ stdout }: { readonly stdout: string }) => stdout,
      )
    }
    const good = `const { items } = await server.admin.get('/admin/api/users')
items.map(({ email }) => email.length)`
    expect(await check('good.ts', good)).toBe('')
    expect(await check('path.ts', `await client.admin.get('/admin/api/user')`)).toMatch(
      /^path\.ts\(5,\d+\): error TS2345/,
    )
    expect(
      await check('answer.ts', `void (await client.admin.get('/admin/api/users')).users`),
    ).toMatch(/^answer\.ts\(5,\d+\): error TS2339/)
  })
})

const missing = chromiumMissing()

describe.skipIf(missing)(`the SDK in Chromium${missing ? ` (${missing})` : ''}`, () => {
  test('calls the site of its page', async () => {
    await using chromium = await launchChromium()
    await using tab = await openTab(chromium)
    const { page } = tab
    await page.route('**/app/**', async (route) => {
      const name = new URL(route.request().url()).pathname.slice('/app/'.length)
      const folder = name === 'in-page.js' ? import.meta.dirname : sdk.package
      await (name === ''
        ? route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>App</title>' })
        : route.fulfill({
            contentType: 'text/javascript',
            body: await readFile(join(folder, name), 'utf8'),
          }))
    })
    await page.goto(`${stack.baseUrl(HOST)}/app/`)
    const seen = await page.evaluate(
      `import('/app/in-page.js').then(({ callAll }) => callAll(...${JSON.stringify(tokens)}))`,
    )
    expect(seen).toEqual({
      hello: { message: 'Hello, Ada' },
      echo: { payload: 1, by: 'vic@else.test' },
      users: ['admin', 'super-admin'],
      failure: { name: 'CroftError', status: 422, code: 'NoName', requestId: expect.any(String) },
      aborted: 'AbortError',
    })
    expect(tab.complaints).toEqual([])
  })
})
