import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const READ = `export default (input, ctx) => ({ ctx: ctx.env, deno: Deno.env.toObject() })`

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const put = (variables: object, rest: object = {}, at = site) =>
  at.admin('PUT', '/env-vars', { variables, ...rest })
const names = async (at = site): Promise<string[]> =>
  (await at.items('/env-vars')).map(({ name }: { name: string }) => name)

/** An operation whose function sees `environment`. */
async function publishReader(at: RuntimeSite, name: string, environment: string[], code = READ) {
  const lambdaResourceId = await at.putFunction(name, code, { environment })
  await at.putOperation(name, { lambdaResourceId, auth: { mode: 'public' } })
  await at.synced()
}

describe('the environment', () => {
  test('is saved, listed by name, and shows the values of what is not secret', async () => {
    const own = await RuntimeSite.create(stack, 'listed.test')
    expect((await own.admin('GET', '/env-vars')).json).toEqual({ items: [], nextToken: null })
    const saved = await put(
      { B_KEY: { value: 'b-secret', secret: true }, A_URL: { value: 'https://a', secret: false } },
      { storageBackend: 'ssmSecureString' },
      own,
    )
    expect(saved).toMatchObject({
      status: 200,
      json: {
        items: [
          { name: 'A_URL', secret: false },
          { name: 'B_KEY', secret: true },
        ],
        permissionsSync: { status: 'queued' },
      },
    })
    const { json } = await own.admin('GET', '/env-vars')
    expect(json.items).toEqual([
      {
        name: 'A_URL',
        secret: false,
        value: 'https://a',
        storageBackend: 'ssmSecureString',
        updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      {
        name: 'B_KEY',
        secret: true,
        storageBackend: 'ssmSecureString',
        updatedAt: expect.any(String),
      },
    ])
  })

  test('is changed in part: what is not named stays, null deletes, DELETE takes all', async () => {
    const own = await RuntimeSite.create(stack, 'partial.test')
    await put({ A: { value: '1', secret: false }, B: { value: '2' }, C: { value: '3' } }, {}, own)
    const changed = await put(
      { A: { secret: true }, B: { value: null }, D: { value: '' } },
      {},
      own,
    )
    expect(changed.json.items).toEqual([
      { name: 'A', secret: true },
      { name: 'D', secret: false },
    ])
    const again = await put({ A: { value: '2' } }, { storageBackend: 'ssmSecureString' }, own)
    expect(again.json.items).toEqual([{ name: 'A', secret: true }])
    expect(await names(own)).toEqual(['A', 'C', 'D'])
    expect((await own.admin('DELETE', '/env-vars')).json).toEqual({ ok: true })
    expect(await names(own)).toEqual([])
    expect((await own.admin('DELETE', '/env-vars')).json).toEqual({ ok: true })
  })

  test('is each site’s own', async () => {
    const two = await RuntimeSite.open(stack, 'two.test')
    await put({ WHOSE: { value: 'of one', secret: false } })
    await put({ WHOSE: { value: 'of two', secret: false } }, {}, two)
    await publishReader(site, 'whose', ['WHOSE'])
    await publishReader(two, 'whose', ['WHOSE'])
    expect((await site.call('whose')).json.data.ctx).toEqual({ WHOSE: 'of one' })
    expect((await two.call('whose')).json.data.ctx).toEqual({ WHOSE: 'of two' })
    await two.admin('DELETE', '/env-vars')
    expect(await names()).toContain('WHOSE')
    // A sealed value that is moved to another site, or to another name, does not open.
    const moved = await asSuperuser(stack, async (sql) => {
      const [row] = await sql`select sealed from env_var where name = 'WHOSE'`
      await sql`
        insert into env_var (site_id, name, secret, storage_backend, sealed)
        select site_id, 'STOLEN', false, 'ssmString', ${row?.['sealed']} from site where domain = 'two.test'`
      return two.admin('GET', '/env-vars')
    })
    expect(moved.status).toBe(500)
    expect(moved.text).not.toContain('of one')
    await asSuperuser(stack, (sql) => sql`delete from env_var where name = 'STOLEN'`)
  })

  test.each<[string, unknown, RegExp]>([
    ['no variables', {}, /variables: is required/],
    ['a list', { variables: [] }, /variables: /],
    ['no body', undefined, /body: /],
    [
      'another storage',
      { storageBackend: 'vault', variables: {} },
      /storageBackend: must be one of/,
    ],
    ['a bare value', { variables: { A: 'text' } }, /variables\.A: expected object/],
    ['a number', { variables: { A: { value: 1 } } }, /variables\.A\.value: /],
    [
      'a word for `secret`',
      { variables: { A: { value: '1', secret: 'yes' } } },
      /variables\.A\.secret: /,
    ],
    [
      'a field of no variable',
      { variables: { A: { value: '1', storage: 'x' } } },
      /variables: holds a field that is not known: a variable takes "value" and "secret"/,
    ],
    [
      'a new name without a value',
      { variables: { NEW: { secret: true } } },
      /variables\.NEW\.value: is required/,
    ],
    [
      'a reserved name',
      { variables: { CROFT_X: { value: '1' } } },
      /variables\.CROFT_X: is a reserved name/,
    ],
    ['NUL', { variables: { A: { value: 'a\0' } } }, /variables\.A\.value: holds a NUL/],
    [
      'a secret in plain storage',
      { storageBackend: 'ssmString', variables: { A: { value: '1', secret: true } } },
      /variables\.A\.secret: a secret cannot be kept as "ssmString"/,
    ],
  ])('is refused with %s, and nothing of it is saved', async (_what, body, message) => {
    const before = await names()
    const answer = await site.admin('PUT', '/env-vars', body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.message).toMatch(message)
    expect(await names()).toEqual(before)
  })

  test('never shows a secret that was sent as secret', async () => {
    await put({ HIDDEN: { value: 'never shown again', secret: true } })
    const opened = await put({ HIDDEN: { secret: false } })
    expect(opened.json.error.message).toMatch(/a secret is never shown/)
    expect((await put({ HIDDEN: { secret: false, value: 'known' } })).status).toBe(200)
    const { json } = await site.admin('GET', '/env-vars')
    expect(json.items).toContainEqual(expect.objectContaining({ name: 'HIDDEN', value: 'known' }))
  })

  test('loses nothing of forty writers at once', async () => {
    const own = await RuntimeSite.create(stack, 'crowd.test')
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => put({ [`V${at}`]: { value: `${at}` } }, {}, own)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await names(own)).toHaveLength(40)
  })
})

describe('a function', () => {
  test('sees the variables that it names, and no others', async () => {
    await put({ SEEN: { value: 'seen ü "1"' }, UNSEEN: { value: 'unseen' } })
    await publishReader(site, 'sees', ['SEEN', 'ABSENT'])
    const { json } = await site.call('sees')
    expect(json.data).toEqual({ ctx: { SEEN: 'seen ü "1"' }, deno: { SEEN: 'seen ü "1"' } })
    const logs = await site.admin('GET', '/logs?level=warn')
    expect(logs.json.items).toContainEqual(
      expect.objectContaining({
        kind: 'platform',
        message: 'Function "sees" names environment variables that are not set: ABSENT',
      }),
    )
  })

  test('that runs keeps the value it began with, and the next call sees the new one', async () => {
    await put({ SLOW: { value: 'before' } })
    await publishReader(
      site,
      'slow',
      ['SLOW'],
      `export default async ({ payload }, ctx) => {
         if (payload) await new Promise((done) => setTimeout(done, payload))
         return ctx.env.SLOW
       }`,
    )
    expect((await site.call('slow')).json.data).toBe('before')
    const running = site.call('slow', 3000)
    await vi.waitUntil(() => stack.context.sandbox.status().suspended > 0, { timeout: 10_000 })
    await put({ SLOW: { value: 'after' } })
    await vi.waitUntil(async () => (await site.call('slow')).json.data === 'after', {
      timeout: 10_000,
    })
    expect((await running).json.data).toBe('before')
  })

  test('meets no new revision when nothing was changed', async () => {
    const requested = () =>
      stack.inSite('one.test', ({ db, siteId }) =>
        db
          .selectFrom('site_runtime')
          .select('requested')
          .where('site_id', '=', siteId)
          .executeTakeFirstOrThrow(),
      )
    await put({ SAME: { value: 'x', secret: false } })
    const before = await requested()
    const again = await put({ SAME: { value: 'x' } })
    expect(again.json.items).toEqual([{ name: 'SAME', secret: false }])
    await put({ NEVER: { value: null } })
    expect(await requested()).toEqual(before)
  })

  test('has its environment after a restart', async () => {
    await put({ KEPT: { value: 'kept' } })
    await publishReader(site, 'kept', ['KEPT'])
    await using later = await startStack({ beside: stack })
    const answer = await later.call('one.test', 'POST', '/data/public/kept', {
      body: { payload: null },
    })
    expect(answer.json.data.ctx).toEqual({ KEPT: 'kept' })
  })
})

describe('a change', () => {
  test('reaches running functions of every replica, also of one that carries out no jobs', async () => {
    // Nothing but a notification tells it.
    await using beside = await startStack({ beside: stack, works: false })
    await put({ TICK: { value: 'start' } })
    await publishReader(site, 'tick', ['TICK'], `export default (input, ctx) => ctx.env.TICK`)
    const there = await RuntimeSite.open(beside, 'one.test')
    for (const value of ['start', 'one', 'two', 'three']) {
      await put({ TICK: { value } })
      for (const replica of [site, there]) {
        await expect.poll(async () => (await replica.call('tick')).json.data).toBe(value)
      }
    }
  })
})
