import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'
import { installRoot } from '#config/install-root.ts'
import { connectPostgres } from '#platform/postgres/postgres.ts'
import { type FirstRunDeps, firstRun } from '#sites/first-run/first-run.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const EXAMPLE = join(installRoot(), 'examples/hello-site')

/** A new installation, and what its first start is given. */
async function installation(sites: readonly string[] = []) {
  const owned = new AsyncDisposableStack()
  const stack: Stack = owned.use(await startStack({ sites }))
  const postgres = owned.use(await connectPostgres({ url: stack.database.url, log: silentLog }))
  const deps: FirstRunDeps = {
    ...stack.context,
    database: postgres.database,
    baseUrl: stack.baseUrl('localhost'),
    exampleDir: EXAMPLE,
    waitForRuntime: async () => stack.synced('localhost'),
  }
  return { stack, deps, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

let shared: Awaited<ReturnType<typeof installation>>
beforeAll(async () => {
  shared = await installation()
})
afterAll(() => shared[Symbol.asyncDispose]())

const ADA = { body: { payload: { name: 'Ada' } } }

describe('the first run', () => {
  test('is not done while a part is away', async () => {
    const { deps } = shared
    const away = new AppError('ServiceUnavailable', 'The object store does not answer: try again')
    const deployFolder = () => Promise.reject(away)
    await expect(firstRun({ ...deps, deployments: { deployFolder } })).rejects.toBe(away)
  })

  test('starts over when it was killed in the middle, with a link that can be read', async () => {
    const { stack, deps } = shared
    const killed = firstRun({
      ...deps,
      deployments: { deployFolder: () => Promise.reject(new Error('killed')) },
    })
    await expect(killed).rejects.toThrow('killed')
    const half = await stack.context.sites.find('localhost')

    const result = await firstRun(deps)
    expect(result).toMatchObject({
      domain: 'localhost',
      baseUrl: deps.baseUrl,
      onboarding: [{ email: 'admin@localhost', url: expect.stringContaining('token=') }],
      mailbox: 'hello@localhost',
      fault: undefined,
    })
    expect(result?.siteId).not.toBe(half.siteId)
    expect((await stack.portal('GET', '/sites')).json.items).toHaveLength(1)
  })

  test('leaves a mailbox of its super-admin', async () => {
    const { stack } = shared
    const { json } = await stack.portal('GET', '/sites/localhost/mailbox-reports')
    expect(json.items).toMatchObject([
      { address: 'hello@localhost', status: 'ACTIVE', ownerEmails: ['admin@localhost'] },
    ])
  })

  test('leaves a site whose operations answer', async () => {
    const { stack } = shared
    const hello = await stack.call('localhost', 'POST', '/data/public/hello', ADA)
    expect(hello.json).toEqual({ ok: true, data: { message: 'Hello, Ada!' } })
    const again = await stack.call('localhost', 'POST', '/data/public/hello', ADA)
    expect(again.headers['x-cache']).toBe('HIT')

    const refused = await stack.call('localhost', 'POST', '/data/public/hello', {
      body: { payload: { name: '' } },
    })
    expect(refused).toMatchObject({ status: 400, json: { error: { code: 'InvalidName' } } })

    const token = await stack.dataToken('localhost', { user: 'bob@x.test', groups: ['readers'] })
    const echo = await stack.call('localhost', 'POST', '/data/echo', { ...ADA, token })
    expect(echo.json.data).toMatchObject({
      payload: { name: 'Ada' },
      username: 'bob@x.test',
      groups: ['readers'],
    })
  })

  test('happens once', async () => {
    const { stack, deps } = shared
    expect(await firstRun(deps)).toBeUndefined()
    const { siteId } = await stack.context.sites.find('localhost')
    await stack.portal('DELETE', `/sites/${siteId}`, { confirm: true })
    expect(await firstRun(deps)).toBeUndefined()
    expect((await stack.portal('GET', '/sites')).json.items).toEqual([])
  })

  test('leaves an installation alone that has sites already', async () => {
    await using old = await installation(['shop.test'])
    expect(await firstRun(old.deps)).toBeUndefined()
    expect((await old.stack.portal('GET', '/sites')).json.items).toHaveLength(1)
  })

  test('makes one site when two replicas start at the same time', async () => {
    await using fresh = await installation()
    const results = await Promise.all([firstRun(fresh.deps), firstRun(fresh.deps)])
    expect(results.filter((result) => result !== undefined)).toHaveLength(1)
    expect((await fresh.stack.portal('GET', '/sites')).json.items).toHaveLength(1)
  })

  test('is found under localhost when the installation has only an address', async () => {
    await using fresh = await installation()
    const result = await firstRun({ ...fresh.deps, baseUrl: 'http://127.0.0.1:8080' })
    expect(result).toMatchObject({ domain: 'localhost', baseUrl: 'http://localhost:8080' })
  })
})
