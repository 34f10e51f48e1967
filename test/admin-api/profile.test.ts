import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { FormBrowser } from '#test/form-browser.ts'
import { allMailTo, linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

let stack: Stack
let pool: AdminPool
let ann: Member
let adam: Member
let visitorId: string
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  adam = await pool.joined('admin')
  visitorId = decodeJwt(await stack.dataToken('one.test')).sub ?? ''
})
afterAll(() => stack[Symbol.asyncDispose]())

const put = (member: Member, body: unknown) => member.call('PUT', '/profile', { body })
const putOf = (by: Member, whom: { userId: string }, body: unknown) =>
  by.call('PUT', `/users/${whom.userId}/profile`, { body })

describe('one’s own profile', () => {
  test('has the fields that it has, and no others', async () => {
    const bob = await pool.joined('user')
    const fields = {
      userSub: bob.userId,
      primaryEmail: bob.email,
      activeEmail: bob.email,
      externalEmail: null,
      settings: {},
    }
    expect((await bob.call('GET', '/profile')).json).toEqual(fields)
    expect((await put(bob, {})).json).toEqual({
      ...fields,
      updatedAt: expect.stringMatching(TIMESTAMP),
    })
    expect((await adam.call('GET', `/users/${bob.userId}/profile`)).json).toEqual({
      ...fields,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
    })
    expect((await putOf(adam, bob, {})).json).toEqual({
      ...fields,
      updatedAt: expect.stringMatching(TIMESTAMP),
    })
  })

  test.each(['user', 'admin', 'super-admin'] as const)('is open to a %s', async (role) => {
    const member = role === 'super-admin' ? ann : await pool.joined(role)
    expect((await member.call('GET', '/profile')).json.userSub).toBe(member.userId)
    expect((await put(member, { settings: { seen: true } })).status).toBe(200)
  })

  test('keeps what a change leaves out', async () => {
    const bob = await pool.joined('user')
    await put(bob, { externalEmail: 'Bob@Out.test', settings: { theme: 'dark', n: [1, null] } })
    await put(bob, { activeEmail: 'bob@out.test' })
    expect((await bob.call('GET', '/profile')).json).toEqual({
      userSub: bob.userId,
      primaryEmail: bob.email,
      activeEmail: 'bob@out.test',
      externalEmail: 'bob@out.test',
      settings: { theme: 'dark', n: [1, null] },
    })
    await put(bob, { externalEmail: null })
    expect((await bob.call('GET', '/profile')).json).toMatchObject({
      activeEmail: bob.email,
      externalEmail: null,
      settings: { theme: 'dark' },
    })
  })

  test('changes `updatedAt` with a change only', async () => {
    const bob = await pool.joined('user')
    const changed = await put(bob, { settings: { a: 1 } })
    expect((await put(bob, { settings: { a: 1 } })).json).toEqual(changed.json)
    const again = await put(bob, { settings: { a: 2 } })
    expect(again.json.updatedAt > changed.json.updatedAt).toBe(true)
  })

  test('notifies the addresses that were replaced, and no other', async () => {
    const bob = await pool.joined('user')
    await put(bob, { externalEmail: 'old@out.test' })
    await put(bob, { externalEmail: 'new@out.test' })
    expect(await mailTo(stack, 'old@out.test', 'address-changed')).toMatchObject({
      siteDomain: 'one.test',
    })
    expect(await allMailTo(stack, bob.email, 'address-changed')).toEqual([])
    expect(await allMailTo(stack, 'new@out.test')).toEqual([])
  })

  test('may change its addresses a few times an hour, its settings at will', async () => {
    const bob = await pool.joined('user')
    const change = (n: number) => put(bob, { externalEmail: `victim${n}@out.test` })
    const statuses = []
    for (let n = 0; n < 8; n++) statuses.push((await change(n)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
    const refused = await change(9)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await put(bob, { settings: { a: 1 }, primaryEmail: bob.email })).status).toBe(200)
  })

  test.each([
    ['an address of another user', () => ({ primaryEmail: adam.email }), 409, 'UserAlreadyExists'],
    [
      'settings over 16 KiB',
      () => ({ settings: { a: 'x'.repeat(16_400) } }),
      400,
      'ValidationError',
    ],
    [
      'settings over 16 KiB in UTF-8',
      () => ({ settings: { a: 'ü'.repeat(8_200) } }),
      400,
      'ValidationError',
    ],
    ['settings with NUL', () => ({ settings: { a: '\0' } }), 400, 'ValidationError'],
    ['settings with half a letter', () => ({ settings: { '\ud800': 1 } }), 400, 'ValidationError'],
    ['settings that are a list', () => ({ settings: [] }), 400, 'ValidationError'],
    ['settings that are null', () => ({ settings: null }), 400, 'ValidationError'],
    [
      'settings too deep',
      () => `{"settings":${'{"a":'.repeat(3000)}1${'}'.repeat(3001)}`,
      400,
      'ValidationError',
    ],
    ['no primary address', () => ({ primaryEmail: null }), 400, 'ValidationError'],
    ['an address that is none', () => ({ externalEmail: 'bob' }), 400, 'ValidationError'],
    [
      'an active address without an owner',
      () => ({ activeEmail: 'x@y.test' }),
      400,
      'ValidationError',
    ],
    [
      'an active address that goes',
      () => ({ activeEmail: 'e@out.test', externalEmail: null }),
      400,
      'ValidationError',
    ],
    ['another `userSub`', () => ({ userSub: adam.userId }), 400, 'ValidationError'],
    ['a role', () => ({ role: 'super-admin' }), 400, 'ValidationError'],
    ['no JSON', () => '{', 400, 'InvalidJson'],
  ])('refuses %s', async (_what, body, status, code) => {
    const bob = await pool.joined('user')
    await put(bob, { externalEmail: 'e@out.test' })
    const before = await bob.call('GET', '/profile')
    const headers = { 'content-type': 'application/json' }
    const answer = await bob.call('PUT', '/profile', { body: body(), headers })
    expect(answer).toMatchObject({ status, json: { error: { code } } })
    expect((await bob.call('GET', '/profile')).json).toEqual(before.json)
  })

  test('keeps settings as they are, whatever their keys mean to JavaScript', async () => {
    const bob = await pool.joined('user')
    const body = '{"settings":{"__proto__":{"a":1},"constructor":null,"n":1e21,"":"\\u0001"}}'
    const headers = { 'content-type': 'application/json' }
    expect((await bob.call('PUT', '/profile', { body, headers })).status).toBe(200)
    const { json } = await bob.call('GET', '/profile')
    expect(json.settings).toEqual(JSON.parse(body).settings)
    expect(Object.keys(json.settings)).toContain('__proto__')
  })

  test('takes exactly 16 KiB of settings', async () => {
    const settings = { a: 'x'.repeat(16 * 1024 - '{"a":""}'.length) }
    expect((await put(await pool.joined('user'), { settings })).json.settings).toEqual(settings)
  })
})

describe('another’s profile', () => {
  test('is changed by an admin, who does not choose the active address', async () => {
    const bob = await pool.joined('user')
    const answer = await putOf(adam, bob, { externalEmail: 'b@out.test', settings: { by: 'adam' } })
    expect(answer).toMatchObject({
      status: 200,
      json: { activeEmail: bob.email, externalEmail: 'b@out.test', settings: { by: 'adam' } },
    })
    expect(await putOf(adam, bob, { activeEmail: 'b@out.test' })).toMatchObject({ status: 400 })
    const { json } = await stack.portal('GET', `/sites/one.test/audit?sub=${bob.userId}`)
    expect(json.items[0]).toMatchObject({
      event: 'user.changed',
      actor: adam.userId,
      detail: { fields: 'externalEmail settings' },
    })
  })

  test('signs the user out when the sign-in address is another one', async () => {
    const bob = await pool.joined('user')
    await putOf(adam, bob, { settings: { a: 1 }, externalEmail: 'x@out.test' })
    expect((await bob.call('GET', '/profile')).status).toBe(200)
    await putOf(adam, bob, { primaryEmail: `moved-${bob.email}` })
    expect((await bob.call('GET', '/profile')).status).toBe(200)
    const browser = new FormBrowser(stack, 'one.test')
    const { pathname, search } = new URL(
      linkIn(await mailTo(stack, `moved-${bob.email}`, 'address-proof')),
    )
    await browser.submit(await browser.get(`${pathname}${search}`), {})
    expect((await bob.call('GET', '/profile')).status).toBe(401)
    expect(await mailTo(stack, bob.email, 'address-changed')).toBeDefined()
  })

  test('of an invited user sends the invitation to where it belongs now, and ends the old link', async () => {
    const bob = await pool.invited()
    const first = linkIn(await mailTo(stack, bob.email, 'invite'))
    await putOf(adam, bob, { settings: { a: 1 } })
    expect(await pool.pageStatus(first)).toBe(200)
    await putOf(adam, bob, { externalEmail: 'right@out.test' })
    const second = linkIn(await mailTo(stack, 'right@out.test', 'invite'))
    expect([await pool.pageStatus(first), await pool.pageStatus(second)]).toEqual([410, 200])
    expect(await allMailTo(stack, bob.email, 'address-changed')).toEqual([])
  })

  test.each([
    ['of a super-admin, to an admin', () => adam, () => ann.userId, 403, 'Forbidden'],
    ['of an unknown user', () => adam, () => 'nobody', 404, 'UserNotFound'],
    ['of a visitor', () => adam, () => visitorId, 404, 'UserNotFound'],
    ['to a user', () => pool.joined('user'), () => adam.userId, 403, 'Forbidden'],
    [
      'to an admin of another site',
      () => new AdminPool(stack, 'two.test').first(),
      () => adam.userId,
      404,
      'UserNotFound',
    ],
  ])('refuses a change %s', async (_what, by, userId, status, code) => {
    const answer = await putOf(await by(), { userId: userId() }, { settings: {} })
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })

  test('may be read by an admin, also a super-admin’s', async () => {
    expect((await adam.call('GET', `/users/${ann.userId}/profile`)).status).toBe(200)
  })

  test('cannot be read by a user', async () => {
    const bob = await pool.joined('user')
    expect((await bob.call('GET', `/users/${ann.userId}/profile`)).status).toBe(403)
  })
})
