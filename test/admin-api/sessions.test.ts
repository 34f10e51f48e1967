import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }
const HOST = 'one.test'

let stack: Stack
let second: Stack
let admins: RelyingParty
let visitors: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  admins = await RelyingParty.of(stack, HOST, 'admin')
  visitors = await RelyingParty.of(stack, HOST, 'data')
  await stack.adminToken(HOST, 'admin')
  await stack.adminToken(HOST, 'user')
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const api = (method: string, path: string, token: string, body?: unknown) =>
  stack.call(HOST, method, `/admin/api${path}`, { token, ...(body === undefined ? {} : { body }) })
/** A new one: signing the admin out ends those before. */
const admin = () => stack.adminToken(HOST, 'admin')
const listed = async (path: string, token: string) => (await api('GET', path, token)).json.items
const operator = (method: string, query: string, path = '') =>
  stack.portal(method, `/sites/${HOST}/sessions${path}?${query}`)
const lastEvent = async (event: string) =>
  (await stack.portal('GET', `/sites/${HOST}/audit?event=${event}&limit=1`)).json.items[0]

/** Ends whatever went before, and signs the user in as often as asked. */
async function signedIn(email: string, times: number) {
  const pool = email.startsWith('vic') ? 'data' : 'admin'
  const party = pool === 'data' ? visitors : admins
  const sub = await party.user(email)
  await operator('DELETE', `user=${email}&pool=${pool}`)
  const browsers = []
  for (let time = 0; time < times; time++) browsers.push(await party.tokens(email))
  return { sub, browsers, tokens: browsers.map((browser) => browser.access_token) }
}

/** Whether each of the tokens is taken, on either replica. */
const taken = async (party: RelyingParty, tokens: readonly string[]) => {
  const other = await party.at(second)
  return Promise.all(tokens.flatMap((token) => [party.isTaken(token), other.isTaken(token)]))
}

describe('one’s own sign-ins', () => {
  test('are listed, newest first, and the one that asks is marked', async () => {
    const { tokens } = await signedIn('user@one.test', 2)
    const [first = '', last = ''] = tokens
    const items = await listed('/profile/sessions', last)
    expect(items).toHaveLength(2)
    expect(items[0]).toEqual({
      sessionId: expect.stringMatching(/^ses_/),
      method: 'password',
      userAgent: 'relying-party',
      address: '127.0.0.1',
      createdAt: expect.stringMatching(/Z$/),
      lastSeenAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      current: true,
    })
    expect(items[1].current).toBe(false)
    const seenByFirst = await listed('/profile/sessions', first)
    expect(seenByFirst.map(({ current }: { current: boolean }) => current)).toEqual([false, true])
    expect(JSON.stringify(items)).not.toContain(last)
  })

  test('end one by one, with every token, on every replica', async () => {
    const { tokens, browsers, sub } = await signedIn('user@one.test', 2)
    const [gone = '', kept = ''] = tokens
    expect(await taken(admins, tokens)).toEqual([true, true, true, true])
    const [, { sessionId }] = await listed('/profile/sessions', kept)
    expect((await api('DELETE', `/profile/sessions/${sessionId}`, kept)).status).toBe(204)
    expect(await admins.isTaken(gone)).toBe(false)
    await expect.poll(() => taken(admins, tokens), PATIENCE).toEqual([false, false, true, true])
    const refreshed = await admins.refresh(browsers[0]?.refresh_token ?? '')
    expect(refreshed).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect(await listed('/profile/sessions', kept)).toHaveLength(1)
    expect(await lastEvent('session.revoked')).toMatchObject({
      pool: 'admin',
      sub,
      actor: null,
      detail: { sessionId },
    })
    expect(await api('DELETE', `/profile/sessions/${sessionId}`, kept)).toMatchObject({
      status: 404,
      json: { error: { code: 'SessionNotFound' } },
    })
  })

  test('end all but the one that asks', async () => {
    const { tokens } = await signedIn('user@one.test', 3)
    const kept = tokens[2] ?? ''
    expect((await api('DELETE', '/profile/sessions', kept)).status).toBe(204)
    await expect
      .poll(() => taken(admins, tokens), PATIENCE)
      .toEqual([false, false, false, false, true, true])
    const items = await listed('/profile/sessions', kept)
    expect(items).toMatchObject([{ current: true }])
  })

  test('belong to their user only', async () => {
    const { tokens } = await signedIn('user@one.test', 1)
    const others = await signedIn('admin@one.test', 1)
    const [{ sessionId }] = await listed('/profile/sessions', tokens[0] ?? '')
    const stranger = others.tokens[0] ?? ''
    expect((await api('DELETE', `/profile/sessions/${sessionId}`, stranger)).status).toBe(404)
    const { sub } = await signedIn('vic@one.test', 1)
    const [visit] = (await operator('GET', 'user=vic@one.test')).json.items
    expect((await api('DELETE', `/profile/sessions/${visit.sessionId}`, stranger)).status).toBe(404)
    expect((await api('GET', `/users/${sub}/sessions`, await admin())).status).toBe(404)
    expect(await admins.isTaken(tokens[0] ?? '')).toBe(true)
  })
})

describe('the sign-ins of others', () => {
  test('are seen and ended by an admin, who is named in the trail', async () => {
    const { sub, tokens } = await signedIn('user@one.test', 2)
    const items = await listed(`/users/${sub}/sessions`, await admin())
    expect(items).toMatchObject([{ current: false }, { current: false }])
    const [{ sessionId }] = items
    expect((await api('DELETE', `/users/${sub}/sessions/${sessionId}`, await admin())).status).toBe(
      204,
    )
    await expect.poll(() => taken(admins, tokens), PATIENCE).toEqual([true, true, false, false])
    expect((await api('DELETE', `/users/${sub}/sessions`, await admin())).status).toBe(204)
    await expect.poll(() => taken(admins, tokens), PATIENCE).toEqual([false, false, false, false])
    expect(await listed(`/users/${sub}/sessions`, await admin())).toEqual([])
    const { json } = await stack.portal('GET', `/sites/${HOST}/audit?email=admin@one.test&limit=1`)
    expect(await lastEvent('sessions.revoked')).toMatchObject({
      sub,
      actor: json.items[0].sub,
      address: '127.0.0.1',
    })
  })

  test('are out of an admin’s reach where they are a super-admin’s', async () => {
    const ann = await admins.user('ann@one.test')
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['DELETE', '/ses_x'],
    ] as const) {
      const answer = await api(method, `/users/${ann}/sessions${path}`, await admin())
      expect(answer).toMatchObject({ status: 403, json: { error: { code: 'Forbidden' } } })
    }
    const superAdmin = await stack.adminToken(HOST)
    expect(await listed(`/users/${ann}/sessions`, superAdmin)).toEqual([])
  })

  test.each([
    ['GET', '/users/nobody/sessions', 'UserNotFound'],
    ['DELETE', '/users/nobody/sessions', 'UserNotFound'],
    ['DELETE', '/users/nobody/sessions/ses_x', 'UserNotFound'],
  ])('(%s %s) are not found for an unknown user', async (method, path, code) => {
    expect(await api(method, path, await admin())).toMatchObject({
      status: 404,
      json: { error: { code } },
    })
  })

  test('belong to one site', async () => {
    const { sub } = await signedIn('user@one.test', 1)
    const token = await stack.adminToken('two.test')
    const path = `/admin/api/users/${sub}/sessions`
    expect((await stack.call('two.test', 'GET', path, { token })).status).toBe(404)
    expect((await stack.call('two.test', 'DELETE', path, { token })).status).toBe(404)
  })
})

describe('the operator', () => {
  test('sees a visitor’s sign-ins by address, and ends them', async () => {
    const { tokens } = await signedIn('vic@one.test', 2)
    const { items } = (await operator('GET', 'user=VIC@one.test')).json
    expect(items).toHaveLength(2)
    const ended = await operator('DELETE', 'user=vic@one.test', `/${items[0].sessionId}`)
    expect(ended.status).toBe(204)
    await expect.poll(() => taken(visitors, tokens), PATIENCE).toEqual([true, true, false, false])
    expect(await lastEvent('session.revoked')).toMatchObject({ pool: 'data', actor: 'operator' })
    expect((await operator('DELETE', 'user=vic@one.test')).status).toBe(204)
    await expect.poll(() => taken(visitors, tokens), PATIENCE).toEqual([false, false, false, false])
    expect(await lastEvent('sessions.revoked')).toMatchObject({ pool: 'data', actor: 'operator' })
  })

  test('reaches the admin pool when it is named', async () => {
    await signedIn('admin@one.test', 1)
    expect((await operator('GET', 'user=admin@one.test&pool=admin')).json.items).toHaveLength(1)
    expect((await operator('GET', 'user=admin@one.test&pool=data')).status).toBe(404)
  })

  test.each([
    ['', 400, 'ValidationError'],
    ['user=vic', 400, 'ValidationError'],
    ['user=vic@one.test&pool=x', 400, 'ValidationError'],
    ['user=nobody@one.test', 404, 'UserNotFound'],
  ])('reports what is wrong with "%s"', async (query, status, code) => {
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['DELETE', '/ses_x'],
    ] as const) {
      expect(await operator(method, query, path)).toMatchObject({
        status,
        json: { error: { code } },
      })
    }
  })
})

describe('one’s own password', () => {
  const OLD = 'Old horse, 1 battery'
  const NEW = 'New horse, 2 staples'

  const change = async (token: string, currentPassword: string, newPassword: string) =>
    api('POST', '/profile/password', token, { currentPassword, newPassword })

  test('is changed with the old one, which ends every other sign-in', async () => {
    const { sub, tokens } = await signedIn('user@one.test', 2)
    const [other = '', own = ''] = tokens
    const origin = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }
    await stack.context.ownPasswords.add(
      { site: admins.site, pool: admins.pool, origin },
      { sub, password: OLD },
    )
    expect((await change(own, OLD, NEW)).status).toBe(204)
    await expect
      .poll(() => taken(admins, [other, own]), PATIENCE)
      .toEqual([false, false, true, true])
    expect(await lastEvent('password.changed')).toMatchObject({ sub, pool: 'admin' })
    for (const event of ['password.changed', 'sessions.revoked']) {
      const recorded = `POST /admin/api/profile/password ${event}`
      expect(stack.app.recorded.has(recorded), recorded).toBe(true)
    }
    expect((await mailTo(stack, 'user@one.test', 'password-changed')).siteDomain).toBe(HOST)

    const wrong = await change(own, OLD, `${NEW}!`)
    expect(wrong).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'InvalidPassword',
          details: [{ field: 'currentPassword', message: 'is wrong' }],
        },
      },
    })
    const weak = await change(own, NEW, 'short')
    expect(weak).toMatchObject({ status: 400, json: { error: { code: 'InvalidPassword' } } })
    for (const { field } of weak.json.error.details) expect(field).toBe('newPassword')
    expect((await change(own, NEW, `${NEW}!`)).status).toBe(204)
    expect(await admins.isTaken(own)).toBe(true)
  })

  test('is in no answer, and not in the trail', async () => {
    const { text } = await stack.portal('GET', `/sites/${HOST}/audit?limit=100`)
    for (const secret of ['horse', 'battery', 'staples']) expect(text).not.toContain(secret)
  })

  test.each([
    [{}, 'currentPassword'],
    [{ currentPassword: 'x' }, 'newPassword'],
    [{ currentPassword: 'x', newPassword: 7 }, 'newPassword'],
    [{ currentPassword: 'x', newPassword: 'y', sub: 'z' }, 'sub'],
  ])('is not changed by %j', async (body, field) => {
    const { tokens } = await signedIn('user@one.test', 1)
    const { status, json } = await api('POST', '/profile/password', tokens[0] ?? '', body)
    expect(status).toBe(400)
    expect(json.error.details.map((fault: { field: string }) => fault.field)).toContain(field)
  })
})
