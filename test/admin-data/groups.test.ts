import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

let stack: Stack
let second: Stack
let admin: string
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  admin = await stack.adminToken('one.test', 'admin')
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const groups = (method: string, path = '', body?: unknown, host = 'one.test', token = admin) =>
  stack.call(host, method, `/admin/data/groups${path}`, {
    token,
    ...(body === undefined ? {} : { body }),
  })
const users = (groupName: string) => `/${encodeURIComponent(groupName)}/users`

/** A group without members, and a visitor who is in no group. */
async function made(groupName: string): Promise<{ username: string; token: string }> {
  expect((await groups('POST', '', { groupName })).status).toBe(200)
  const username = `${groupName.toLowerCase()}@visitors.test`
  return { username, token: await stack.dataToken('one.test', { user: username }) }
}

describe('a group', () => {
  test('is one of 1000 at most, also when the last place is asked for at once', async () => {
    const own = 'full.test'
    await RuntimeSite.create(stack, own)
    const token = await stack.adminToken(own)
    await stack.inSite(own, (tx) =>
      tx.db
        .insertInto('data_group')
        .values(
          Array.from({ length: 999 }, (_, at) => ({
            site_id: tx.siteId,
            group_name: `full-${at}`,
            description: '',
            created_at: new Date(),
          })),
        )
        .execute(),
    )
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        groups('POST', '', { groupName: `last-${at}` }, own, token),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 400),
    ])
  })

  test('is made, listed by name page by page, and deleted', async () => {
    const own = 'pages.test'
    await stack.createSite({ domain: own, superAdmins: [`ann@${own}`] })
    const token = await stack.adminToken(own)
    for (const groupName of ['staff', 'board', 'editors']) {
      const made = await groups(
        'POST',
        '',
        { groupName, description: `The ${groupName}` },
        own,
        token,
      )
      expect(made).toMatchObject({ status: 200 })
      expect(made.json).toEqual({ groupName, description: `The ${groupName}` })
    }
    const first = await groups('GET', '?limit=2', undefined, own, token)
    expect(first.json).toEqual({
      items: [
        { groupName: 'board', description: 'The board' },
        { groupName: 'editors', description: 'The editors' },
      ],
      nextToken: expect.any(String),
    })
    const next = `?limit=2&nextToken=${first.json.nextToken}`
    expect((await groups('GET', next, undefined, own, token)).json).toEqual({
      items: [{ groupName: 'staff', description: 'The staff' }],
      nextToken: null,
    })
    expect(await groups('GET', next)).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidNextToken' } },
    })
    const gone = await groups('DELETE', '/board', undefined, own, token)
    expect(gone).toMatchObject({ status: 200, json: { ok: true } })
    expect(await groups('DELETE', '/board', undefined, own, token)).toMatchObject({
      status: 404,
      json: { error: { code: 'GroupNotFound', message: 'Group "board" does not exist' } },
    })
  })

  test('exists once', async () => {
    await made('once')
    expect(await groups('POST', '', { groupName: 'once' })).toMatchObject({
      status: 409,
      json: { error: { code: 'GroupAlreadyExists' } },
    })
    const both = await Promise.all(
      [stack, second].map((replica) =>
        replica.call('one.test', 'POST', '/admin/data/groups', {
          token: admin,
          body: { groupName: 'race' },
        }),
      ),
    )
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]))
  })

  test('has a description of nothing when it is given none', async () => {
    expect((await groups('POST', '', { groupName: 'plain' })).json).toEqual({
      groupName: 'plain',
      description: '',
    })
  })

  test('may be named with any sign that can be seen', async () => {
    const groupName = 'Zürich/Ops: 50%+?#&'.replaceAll(' ', '_')
    await made(groupName)
    const { username } = await made('elsewhere')
    const added = await groups('POST', users(groupName), { username })
    expect(added.json).toEqual({ groupName, username, ok: true })
    expect((await groups('GET', users(groupName))).json.items).toHaveLength(1)
    expect((await groups('DELETE', `/${encodeURIComponent(groupName)}`)).status).toBe(200)
  })

  test.each([
    ['no name', {}, 'groupName'],
    ['an empty name', { groupName: '' }, 'groupName'],
    ['a blank', { groupName: 'a b' }, 'groupName'],
    ['a NUL', { groupName: 'a\0b' }, 'groupName'],
    ['a line break', { groupName: 'a\n' }, 'groupName'],
    ['an invisible sign', { groupName: 'a\u202eb' }, 'groupName'],
    ['half a sign', { groupName: 'a\ud800' }, 'groupName'],
    ['a step up', { groupName: '..' }, 'groupName'],
    ['129 letters', { groupName: 'x'.repeat(129) }, 'groupName'],
    ['a number', { groupName: 7 }, 'groupName'],
    ['a long description', { groupName: 'x', description: 'x'.repeat(2049) }, 'description'],
    ['a NUL in the description', { groupName: 'x', description: '\0' }, 'description'],
    ['a field that it does not know', { groupName: 'x', precedence: 1 }, 'precedence'],
  ])('is refused with %s', async (_what, body, field) => {
    expect(await groups('POST', '', body)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', details: [{ field }] } },
    })
  })

  test('that an operation names is kept until the operation changes', async () => {
    const site = await RuntimeSite.open(stack, 'one.test')
    const { username, token } = await made('guards')
    await groups('POST', users('guards'), { username })
    const echo = { preset: { preset: 'echo' } }
    await site.putGroups('x')
    await site.putOperation('gate', { ...echo, auth: { mode: 'groups', groups: ['x', 'guards'] } })
    await site.synced()
    const refused = await groups('DELETE', '/guards')
    expect(refused).toMatchObject({
      status: 409,
      json: { error: { code: 'ResourceInUse', operations: ['gate'] } },
    })
    expect(refused.json.error.message).toContain('"gate"')
    expect((await site.callAs(token, 'gate')).status).toBe(200)
    await site.putOperation('gate', { ...echo, auth: { mode: 'groups', groups: ['x'] } })
    expect((await groups('DELETE', '/guards')).status).toBe(200)
  })
})

describe('a membership', () => {
  test('is made twice as well as once, listed, and ended by body or by query', async () => {
    const { username } = await made('Members')
    const path = users('Members')
    const answer = { groupName: 'Members', username, ok: true }
    for (const spelt of [username, username.toUpperCase()]) {
      expect((await groups('POST', path, { username: spelt })).json).toEqual(answer)
    }
    expect((await groups('GET', path)).json).toEqual({
      items: [
        {
          username,
          sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
          addedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ],
      nextToken: null,
    })
    expect((await groups('DELETE', path, { username })).json).toEqual(answer)
    expect((await groups('GET', path)).json.items).toEqual([])
    await groups('POST', path, { username })
    const query = `${path}?username=${encodeURIComponent(username)}`
    expect((await groups('DELETE', query)).json).toEqual(answer)
    expect((await groups('GET', path)).json.items).toEqual([])
    expect((await groups('DELETE', query)).json).toEqual(answer)
  })

  test('is listed page by page, for its own group only', async () => {
    await made('crowd')
    await made('other')
    for (const name of ['a', 'b', 'c']) {
      await stack.dataToken('one.test', { user: `${name}@crowd.test` })
      await groups('POST', users('crowd'), { username: `${name}@crowd.test` })
    }
    const seen: string[] = []
    const tokens: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const more: string = next === '' ? '' : `&nextToken=${next}`
      const page = (await groups('GET', `${users('crowd')}?limit=1${more}`)).json
      expect(page.items).toHaveLength(1)
      seen.push(page.items[0].username)
      next = page.nextToken
      if (next !== null) tokens.push(next)
    }
    expect(seen.sort()).toEqual(['a@crowd.test', 'b@crowd.test', 'c@crowd.test'])
    expect(tokens).toHaveLength(2)
    const foreign = await groups('GET', `${users('other')}?nextToken=${tokens[0]}`)
    expect(foreign.json.error.code).toBe('InvalidNextToken')
  })

  test.each([
    ['POST', 'nowhere', { username: 'once@visitors.test' }, 404, 'GroupNotFound'],
    ['POST', 'known', { username: 'nobody@visitors.test' }, 404, 'UserNotFound'],
    ['POST', 'known', { username: 'ann@one.test' }, 404, 'UserNotFound'],
    ['POST', 'known', { username: 'a\0b' }, 404, 'UserNotFound'],
    ['POST', 'known', { username: '' }, 400, 'ValidationError'],
    ['POST', 'known', {}, 400, 'ValidationError'],
    ['POST', 'known', { username: 'x@y', role: 'admin' }, 400, 'ValidationError'],
    ['DELETE', 'nowhere', { username: 'once@visitors.test' }, 404, 'GroupNotFound'],
    ['DELETE', 'known', { username: 'nobody@visitors.test' }, 404, 'UserNotFound'],
    ['DELETE', 'known', undefined, 400, 'ValidationError'],
    ['DELETE', 'known', {}, 400, 'ValidationError'],
    ['DELETE', 'known', { user: 'x@y' }, 400, 'ValidationError'],
    ['DELETE', 'known?username=x%40y', '{"usern', 415, 'UnsupportedMediaType'],
    ['DELETE', 'known?username=', undefined, 400, 'ValidationError'],
    ['DELETE', 'known?username=a%40x&username=b%40x', undefined, 400, 'ValidationError'],
    ['GET', 'nowhere', undefined, 404, 'GroupNotFound'],
  ] as const)('(%s of %s, %j) is refused', async (method, group, body, status, code) => {
    await groups('POST', '', { groupName: 'known' })
    const [name, query = ''] = group.split('?')
    const path = `/${name}/users${query === '' ? '' : `?${query}`}`
    expect(await groups(method, path, body)).toMatchObject({ status, json: { error: { code } } })
  })

  test('goes no further than the names of all groups fit into a token', async () => {
    const { username, token } = await made('first')
    const names = Array.from({ length: 16 }, (_, at) => `${at}`.padEnd(128, 'ä'))
    const answers = []
    for (const groupName of names) {
      await groups('POST', '', { groupName })
      answers.push(await groups('POST', users(groupName), { username }))
    }
    expect(answers.slice(0, 15).map(({ status }) => status)).toEqual(Array(15).fill(200))
    expect(answers[15]).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    const again = await groups('POST', users(names[0] ?? ''), { username })
    expect(again.status).toBe(200)
    const minted = await stack.call('one.test', 'POST', '/data/nothing', { token })
    expect(minted.status).toBe(404)
  })

  test('is no business of those who are not admins', async () => {
    for (const token of [
      await stack.adminToken('one.test', 'user'),
      await stack.dataToken('one.test'),
      await stack.adminToken('two.test'),
    ]) {
      const answer = await groups('GET', '', undefined, 'one.test', token)
      expect([401, 403]).toContain(answer.status)
    }
  })
})

describe('an operation for a group', () => {
  let site: RuntimeSite
  beforeAll(async () => {
    site = await RuntimeSite.open(stack, 'one.test')
  })

  const statusesOf = async (token: string, operation: string) =>
    Promise.all(
      [stack, second].map(async (replica) => {
        const call = { token, body: { payload: null } }
        return (await replica.call('one.test', 'POST', `/data/${operation}`, call)).status
      }),
    )

  test('opens and closes for a token that is out already, on every replica', async () => {
    const { username, token } = await made('live')
    await site.putOperation('forLive', {
      preset: { preset: 'echo' },
      auth: { mode: 'groups', groups: ['live'] },
    })
    await site.synced()
    const statuses = () => statusesOf(token, 'forLive')
    await expect.poll(statuses, PATIENCE).toEqual([403, 403])
    await groups('POST', users('live'), { username })
    // The replica that made the change knows at once.
    expect((await site.callAs(token, 'forLive')).status).toBe(200)
    await expect.poll(statuses, PATIENCE).toEqual([200, 200])
    const since = performance.now()
    await groups('DELETE', users('live'), { username })
    expect((await site.callAs(token, 'forLive')).status).toBe(403)
    await expect.poll(statuses, { ...PATIENCE, interval: 5 }).toEqual([403, 403])
    expect(performance.now() - since).toBeLessThan(5000)
  })

  test('closes for a sign-in although its token still names the group', async () => {
    const { username } = await made('former')
    await site.putOperation('forFormer', {
      preset: { preset: 'echo' },
      auth: { mode: 'groups', groups: ['former'] },
    })
    await site.synced()
    await groups('POST', users('former'), { username })
    const visitors = await RelyingParty.of(stack, 'one.test')
    const { access_token: token } = await visitors.tokens(username)
    expect(decodeJwt(token)['cognito:groups']).toEqual(['former'])
    await expect.poll(() => statusesOf(token, 'forFormer'), PATIENCE).toEqual([200, 200])
    await groups('DELETE', users('former'), { username })
    expect((await site.callAs(token, 'forFormer')).status).toBe(403)
    await expect.poll(() => statusesOf(token, 'forFormer'), PATIENCE).toEqual([403, 403])
    await groups('POST', users('former'), { username })
    expect((await site.callAs(token, 'forFormer')).status).toBe(200)
  })

  test('closes for everyone when the group is deleted and comes back empty', async () => {
    const { username, token } = await made('fleeting')
    await site.publish('whoAmI', 'export default ({ auth }) => auth.groups', {
      auth: { mode: 'authenticated' },
    })
    await groups('POST', users('fleeting'), { username })
    expect((await site.callAs(token, 'whoAmI')).json.data).toEqual(['fleeting'])
    await groups('DELETE', '/fleeting')
    expect((await site.callAs(token, 'whoAmI')).json.data).toEqual([])
    await groups('POST', '', { groupName: 'fleeting' })
    expect((await site.callAs(token, 'whoAmI')).json.data).toEqual([])
    expect((await groups('GET', users('fleeting'))).json.items).toEqual([])
  })

  test('never gives a kept answer to someone who has left', async () => {
    const { username, token } = await made('insiders')
    await groups('POST', users('insiders'), { username })
    await site.publish('secret', 'export default () => "for insiders"', {
      auth: { mode: 'groups', groups: ['insiders'] },
      cache: { ttlSeconds: 600 },
    })
    await site.publish('mine', 'export default ({ auth }) => auth.groups', {
      auth: { mode: 'authenticated' },
      cache: { ttlSeconds: 600 },
    })
    expect((await site.callAs(token, 'secret')).json.data).toBe('for insiders')
    expect((await site.callAs(token, 'secret')).headers['x-cache']).toBe('HIT')
    await site.callAs(token, 'mine')
    expect((await site.callAs(token, 'mine')).json.data).toEqual(['insiders'])
    await groups('DELETE', users('insiders'), { username })
    const left = await site.callAs(token, 'secret')
    expect(left).toMatchObject({ status: 403, json: { ok: false, error: { code: 'Forbidden' } } })
    expect(left.text).not.toContain('for insiders')
    expect((await site.callAs(token, 'mine')).json.data).toEqual([])
  })

  test('does not open for a group of that name on another site', async () => {
    const { token } = await made('twin')
    await site.putOperation('forTwin', {
      preset: { preset: 'echo' },
      auth: { mode: 'groups', groups: ['twin'] },
    })
    await site.synced()
    const other = await stack.adminToken('two.test')
    await groups('POST', '', { groupName: 'twin' }, 'two.test', other)
    const username = 'twin@visitors.test'
    const unknown = await groups('POST', users('twin'), { username }, 'two.test', other)
    expect(unknown.json.error.code).toBe('UserNotFound')
    const foreign = await stack.dataToken('two.test', { user: username })
    await groups('POST', users('twin'), { username }, 'two.test', other)
    expect((await site.callAs(token, 'forTwin')).status).toBe(403)
    expect((await site.callAs(foreign, 'forTwin')).status).toBe(401)
    expect((await groups('GET', users('twin'))).json.items).toEqual([])
  })
})
