import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SECURITY_EVENTS, type SecurityEvent } from '#identity/security-events/model.ts'
import { type Stack, startStack } from '#test/stack.ts'

const DAY_MS = 24 * 3_600_000

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const audit = (query = '', host = 'one.test') => stack.portal('GET', `/sites/${host}/audit${query}`)
const itemsOf = async (query = '', host = 'one.test') => (await audit(query, host)).json.items
const note = async (host: string, event: SecurityEvent, by: Stack = stack) => {
  const { siteId } = await stack.context.sites.find(host)
  await by.context.securityEvents.note(siteId, event)
}
const fresh = async (domain: string) => {
  await stack.createSite({ domain })
  return domain
}

describe('the audit trail', () => {
  test('says who did what to which user, from where, newest first', async () => {
    const host = 'story.test'
    await stack.createSite({ domain: host, superAdmins: [`ann@${host}`] })
    const token = await stack.adminToken(host)
    const visitor = { user: 'vic@story.test', pool: 'data', groups: ['a', 'b'] }
    await stack.portal('POST', `/sites/${host}/tokens`, visitor)
    const headers = { 'user-agent': 'Tester/1\u00a0x' }
    const call = (method: string, path: string, body?: unknown) =>
      stack.call(host, method, `/admin/data/groups${path}`, {
        token,
        headers,
        ...(body === undefined ? {} : { body }),
      })
    await call('POST', '', { groupName: 'staff' })
    const added = await call('POST', '/staff/users', { username: 'VIC@story.test' })
    await call('POST', '/staff/users', { username: 'vic@story.test' })
    await call('DELETE', '/staff/users', { username: 'vic@story.test' })
    await call('DELETE', '/staff/users', { username: 'vic@story.test' })
    await call('DELETE', '/staff')
    await stack.portal('POST', `/sites/${host}/keys/rotate`, { pool: 'data', oldTokens: 'end' })

    const items = await itemsOf('', host)
    expect(items.slice(0, 7).map(({ event }: { event: string }) => event)).toEqual([
      'keys.rotated',
      'group.deleted',
      'group.member-removed',
      'group.member-added',
      'group.created',
      'token.minted',
      'token.minted',
    ])
    const [ann] = await itemsOf('?email=ann@story.test', host)
    expect(items[3]).toEqual({
      eventId: expect.stringMatching(/^evt_/),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      event: 'group.member-added',
      pool: 'data',
      sub: items[5].sub,
      email: 'vic@story.test',
      actor: ann.sub,
      clientId: null,
      address: '127.0.0.1',
      userAgent: expect.stringContaining('Tester/1'),
      requestId: added.headers['x-request-id'],
      detail: { groupName: 'staff' },
    })
    expect(items[0]).toMatchObject({
      pool: 'data',
      actor: 'operator',
      detail: { oldTokens: 'end', kid: expect.any(String) },
    })
    expect(items[5]).toMatchObject({
      actor: 'operator',
      email: 'vic@story.test',
      detail: { use: 'access', groups: 'a b' },
    })
  })

  test('takes every kind of event, and finds it by its name', async () => {
    const host = await fresh('kinds.test')
    for (const event of SECURITY_EVENTS) await note(host, { event, pool: 'data' })
    const first = (await audit('?limit=100', host)).json
    const rest = await itemsOf(`?limit=100&nextToken=${first.nextToken}`, host)
    const all = [...first.items, ...rest]
    // Those of one millisecond come in any order.
    const names = all.map(({ event }: { event: string }) => event)
    expect(names.toSorted()).toEqual(SECURITY_EVENTS.toSorted())
    const times = all.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted().toReversed())
    for (const event of SECURITY_EVENTS) {
      expect(await itemsOf(`?event=${event}`, host)).toMatchObject([{ event }])
    }
  })

  test('is filtered by user, address and time', async () => {
    const host = await fresh('filters.test')
    await using yesterday = await startStack({
      beside: stack,
      platform: { clock: { now: () => new Date(Date.now() - DAY_MS) } },
    })
    await note(host, { event: 'sign-in.succeeded', sub: 'u1', email: 'a@x.test' }, yesterday)
    await note(host, { event: 'sign-in.failed', email: 'a@x.test' }, yesterday)
    await note(host, { event: 'sign-out', sub: 'u1', email: 'b@x.test' })
    const midday = encodeURIComponent(new Date(Date.now() - DAY_MS / 2).toISOString())
    const eventsOf = async (query: string) =>
      (await itemsOf(query, host)).map(({ event }: { event: string }) => event)
    expect(await eventsOf('?sub=u1')).toEqual(['sign-out', 'sign-in.succeeded'])
    expect(await eventsOf('?email=A@X.test')).toEqual(['sign-in.failed', 'sign-in.succeeded'])
    expect(await eventsOf('?email=a@x.test&sub=u1')).toEqual(['sign-in.succeeded'])
    expect(await eventsOf(`?since=${midday}`)).toEqual(['sign-out'])
    expect(await eventsOf(`?until=${midday}&event=sign-in.failed`)).toEqual(['sign-in.failed'])
    expect(await eventsOf('?sub=nobody')).toEqual([])
  })

  test('is read in pages that miss nothing and repeat nothing, also within one millisecond', async () => {
    const host = await fresh('pages.test')
    const stopped = new Date()
    await using replica = await startStack({
      beside: stack,
      platform: { clock: { now: () => stopped } },
    })
    for (let count = 0; count < 57; count++) {
      await note(host, { event: 'sign-out', sub: `u${count}` }, replica)
    }
    const seen: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const more: string = next === '' ? '' : `&nextToken=${next}`
      const page = (await audit(`?limit=10&event=sign-out${more}`, host)).json
      seen.push(...page.items.map(({ sub }: { sub: string }) => sub))
      next = page.nextToken
    }
    expect(seen).toHaveLength(57)
    expect(new Set(seen).size).toBe(57)
  })

  test('gives a page only to the site and the filters that it was made for', async () => {
    const [host, other] = [await fresh('bound.test'), await fresh('bound-too.test')]
    for (const site of [host, host, other, other]) await note(site, { event: 'sign-out' })
    const { nextToken } = (await audit('?limit=1&event=sign-out', host)).json
    const refusal = { status: 400, json: { error: { code: 'InvalidNextToken' } } }
    const token = `nextToken=${nextToken}`
    expect(await audit(`?event=sign-out&limit=1&${token}`, host)).toMatchObject({ status: 200 })
    expect(await audit(`?limit=1&event=sign-out&${token}`, other)).toMatchObject(refusal)
    expect(await audit(`?limit=1&event=sign-in.failed&${token}`, host)).toMatchObject(refusal)
    expect(await audit(`?limit=1&${token}`, host)).toMatchObject(refusal)
    expect(await audit(`?event=sign-out&sub=x&${token}`, host)).toMatchObject(refusal)
  })

  test('of one site says nothing of another', async () => {
    const [host, other] = [await fresh('mine.test'), await fresh('yours.test')]
    await note(host, { event: 'sign-out', sub: 'same' })
    await note(other, { event: 'sign-in.failed', sub: 'same' })
    expect(await itemsOf('?sub=same', host)).toMatchObject([{ event: 'sign-out' }])
    expect(await itemsOf('?sub=same', other)).toMatchObject([{ event: 'sign-in.failed' }])
  })

  test('keeps any text that was typed as an address', async () => {
    const host = await fresh('typed.test')
    await note(host, { event: 'sign-in.failed', email: `a\0\ud800${'x'.repeat(5000)}@y` })
    const [{ email }] = await itemsOf('', host)
    expect(email).toHaveLength(254)
  })

  test.each([
    ['one.test', '?event=sign-in', 400, 'ValidationError'],
    ['one.test', '?since=yesterday', 400, 'ValidationError'],
    ['one.test', '?until=2026-13-01', 400, 'ValidationError'],
    ['one.test', '?since=0000-01-01', 400, 'ValidationError'],
    ['one.test', '?until=9999-12-31T23:00:00-02:00', 400, 'ValidationError'],
    ['one.test', '?sub=', 400, 'ValidationError'],
    ['one.test', '?email=%00', 400, 'ValidationError'],
    ['one.test', '?limit=0', 400, 'ValidationError'],
    ['one.test', '?nextToken=AAAA', 400, 'InvalidNextToken'],
    ['nowhere.test', '', 404, 'SiteNotFound'],
  ] as const)('of %s with "%s" is refused', async (host, query, status, code) => {
    expect(await audit(query, host)).toMatchObject({ status, json: { error: { code } } })
  })

  test('is the operator’s: no admin reads it', async () => {
    const token = await stack.adminToken('one.test')
    const path = '/portal/api/sites/one.test/audit'
    expect((await stack.call('localhost', 'GET', path, { token })).status).toBe(401)
    expect((await stack.call('one.test', 'GET', '/admin/data/audit', { token })).status).toBe(404)
  })
})
