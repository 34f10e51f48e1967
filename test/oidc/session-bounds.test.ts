import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
const HOUR_MS = 3_600_000

let stack: Stack
/** A replica whose clock the tests set; the first uses the machine's. */
let later: Stack
let aheadMs = 0
beforeAll(async () => {
  stack = await startStack()
  later = await startStack({
    beside: stack,
    works: false,
    platform: { clock: { now: () => new Date(Date.now() + aheadMs) } },
  })
  await stack.adminToken(HOST, 'admin')
})
afterAll(async () => {
  await later[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

let people = 0
/** A user who has just signed in, with a browser and a client's tokens. */
async function signedIn(kind: PoolKind) {
  const party = await RelyingParty.of(stack, HOST, kind)
  const email = kind === 'admin' ? `admin@${HOST}` : `p${++people}@visitors.test`
  await party.user(email)
  return { party, email, tokens: await party.tokens(email) }
}

const after = async (party: RelyingParty, hours: number): Promise<RelyingParty> => {
  aheadMs = hours * HOUR_MS
  return party.at(later)
}
const settings = async (kind: PoolKind, change: object) =>
  stack.portal('PATCH', `/sites/${HOST}/auth`, { [kind]: change })
const listed = async ({ stack: at, site, pool }: RelyingParty, sub: string) =>
  at.context.sessions.list(site, pool, sub)

describe('an unused sign-in', () => {
  test('ends after eight hours in the admin pool, for its browser and for its client', async () => {
    const { party, email, tokens } = await signedIn('admin')
    const sub = await party.user(email)
    const morning = await after(party, 7.9)
    expect(await listed(morning, sub)).not.toEqual([])
    const evening = await after(party, 8.1)
    expect(await evening.authorize({}, tokens.cookie)).toMatchObject({
      status: 303,
      headers: { location: expect.stringContaining('/login?') },
    })
    expect(await evening.refresh(tokens.refresh_token)).toMatchObject({
      status: 400,
      json: {
        error: 'invalid_grant',
        error_description: 'The sign-in has ended because it was not used for too long',
      },
    })
    expect(await listed(evening, sub)).toEqual([])
  })

  test('goes on while its client is used, in the browser as well', async () => {
    const { party, tokens } = await signedIn('admin')
    let refresh = tokens.refresh_token
    for (const hours of [6, 12, 18]) {
      const answer = await (await after(party, hours)).refresh(refresh)
      expect(answer.status, answer.text).toBe(200)
      refresh = answer.json.refresh_token
    }
    const next = await after(party, 25)
    expect(await next.authorize({}, tokens.cookie)).toMatchObject({
      headers: { location: expect.stringContaining('code=') },
    })
  })

  test('goes on while its browser is used', async () => {
    const { party, tokens } = await signedIn('admin')
    for (const hours of [6, 12]) {
      const answer = await (await after(party, hours)).authorize({}, tokens.cookie)
      expect(answer.headers['location']).toContain('code=')
    }
  })

  test('goes on for visitors, where no setting says otherwise', async () => {
    const { party, tokens } = await signedIn('data')
    const answer = await (await after(party, 24 * 29)).refresh(tokens.refresh_token)
    expect(answer.status, answer.text).toBe(200)
  })

  test('ends for visitors when the operator has decided so', async () => {
    expect((await settings('data', { sessionIdleMinutes: 30 })).status).toBe(200)
    const { party, tokens } = await signedIn('data')
    const soon = await after(party, 0.4)
    expect((await soon.authorize({}, tokens.cookie)).headers['location']).toContain('code=')
    const ended = await after(party, 1)
    expect((await ended.authorize({}, tokens.cookie)).headers['location']).toContain('/login?')
    await settings('data', { sessionIdleMinutes: 43_200 })
  })

  test.each([{ sessionIdleMinutes: 4 }, { sessionIdleMinutes: 43_201 }, { maxSessions: 0 }])(
    'is not bounded by %o',
    async (change) => {
      expect(await settings('admin', change)).toMatchObject({
        status: 400,
        json: { error: { code: 'ValidationError' } },
      })
    },
  )
})

describe('an account', () => {
  test('has so many sign-ins: a new one ends the one that was used longest ago', async () => {
    aheadMs = 0
    await settings('data', { maxSessions: 2 })
    const { party, email, tokens: first } = await signedIn('data')
    const second = await party.tokens(email)
    // The first one is used, so that the second one is the older.
    const used = await after(party, 0.1)
    expect((await used.authorize({}, first.cookie)).headers['location']).toContain('code=')
    const third = await used.tokens(email)
    const isOpen = async ({ cookie }: { cookie: string }) =>
      (await used.authorize({}, cookie)).headers['location']?.includes('code=')
    expect([await isOpen(first), await isOpen(second), await isOpen(third)]).toEqual([
      true,
      false,
      true,
    ])
    expect((await used.refresh(second.refresh_token)).status).toBe(400)
    expect(await listed(used, await party.user(email))).toHaveLength(2)
    const { json } = await stack.portal('GET', `/sites/${HOST}/audit?event=session.revoked&limit=1`)
    expect(json.items[0]).toMatchObject({ detail: { reason: 'too many' } })
    await settings('data', { maxSessions: 50 })
  })

  test('has so many sign-ins without a browser', async () => {
    await settings('data', { maxSessions: 2 })
    const party = await RelyingParty.of(stack, HOST)
    const sub = await party.user('programs@visitors.test')
    const { tokenEndpoint, clock } = stack.context
    const { site, pool } = party
    const origin = { address: '192.0.2.1', userAgent: 'program', requestId: 'test' }
    const client = pool.clients.get(pool.clientId)
    if (!client) throw new Error('The pool has no client')
    const grant = { client, sub, scope: 'openid', authTime: clock.now() }
    const refresh: string[] = []
    for (let time = 0; time < 3; time++) {
      const set = await tokenEndpoint.start({ site, pool, origin }, grant, async () => undefined)
      refresh.push(set.refreshToken)
    }
    const statuses = await Promise.all(
      refresh.map(async (token) => (await party.refresh(token)).status),
    )
    expect(statuses).toEqual([400, 200, 200])
    await settings('data', { maxSessions: 50 })
  })
})
