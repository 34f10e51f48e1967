import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty, type Tokens } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

/** What ends on one replica ends on all of them by then. */
const WITHIN_TWO_SECONDS = { timeout: 2_000, interval: 20 }
const DAY_MS = 24 * 3_600_000

/** Two more replicas are started: a busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const INVALID_GRANT = { status: 400, json: { error: 'invalid_grant' } }

describe('a refresh token', () => {
  test('is good for the next tokens, of the same sign-in', async () => {
    const first = await client.tokens('vic@example.org')
    const answer = await client.refresh(first.refresh_token)
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
    expect(answer.json.refresh_token).not.toBe(first.refresh_token)
    const [before, after] = [decodeJwt(first.id_token ?? ''), decodeJwt(answer.json.id_token)]
    expect(after).toMatchObject({
      sub: before.sub,
      auth_time: before['auth_time'],
      origin_jti: before['origin_jti'],
    })
    expect(after.jti).not.toBe(before.jti)
    expect(after).not.toHaveProperty('nonce')
    expect(await client.isTaken(answer.json.access_token)).toBe(true)
    expect((await client.refresh(answer.json.refresh_token)).status).toBe(200)
  })

  test('that is used again within ten seconds gets the same tokens, on every replica', async () => {
    const first = await client.tokens('vic@example.org')
    const answer = await client.refresh(first.refresh_token)
    await using beside = await startStack({ beside: stack })
    const there = await client.at(beside)
    for (const party of [client, there]) {
      const again = await party.refresh(first.refresh_token)
      expect(again).toMatchObject({ status: 200, json: answer.json })
    }
    expect(await client.isTaken(answer.json.access_token)).toBe(true)
    expect((await client.refresh(answer.json.refresh_token)).status).toBe(200)
  })

  test('that is used at once by several gives all of them the same tokens', async () => {
    const { refresh_token: token } = await client.tokens('vic@example.org')
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.refresh(token)))
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 200, json: answers[0]?.json })
    }
    expect(await client.isTaken(answers[0]?.json.access_token)).toBe(true)
  })

  test('that is used again after ten seconds ends the whole sign-in, and is on record', async () => {
    const first = await client.tokens('vic@example.org')
    const second = (await client.refresh(first.refresh_token)).json
    expect(await client.isTaken(second.access_token)).toBe(true)
    await using later = await startStack({ beside: stack, platform: { clock: ahead(10_000) } })
    const there = await client.at(later)
    expect(await there.refresh(first.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await there.isTaken(second.access_token)).toBe(false)
    expect(await client.refresh(first.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await client.refresh(second.refresh_token)).toMatchObject(INVALID_GRANT)
    // The other replica receives a notification.
    for (const { access_token } of [first, second]) {
      await expect.poll(() => client.isTaken(access_token), WITHIN_TWO_SECONDS).toBe(false)
    }
    const events = await asSuperuser(
      stack,
      (sql) => sql`
      select client_id, address from security_event where event = 'refresh-token.replayed'`,
    )
    expect(events).toEqual([{ client_id: client.pool.clientId, address: '127.0.0.1' }])
  })

  test('that is used again for other scopes ends the sign-in', async () => {
    const { refresh_token: token } = await client.tokens('other@example.org')
    const { json } = await client.refresh(token)
    expect(await client.refresh(token, { scope: 'email' })).toMatchObject(INVALID_GRANT)
    expect(await client.isTaken(json.access_token)).toBe(false)
  })

  test.each([
    ['revoked', (tokens: Tokens) => client.revoke(tokens.refresh_token)],
    [
      'ended with all of the user’s',
      async () => {
        const sub = await client.user('gone@example.org')
        await stack.context.users.revokeTokens(client.site, client.pool.userPoolId, sub)
      },
    ],
  ])('of a sign-in that was %s gets nothing again, and nothing is kept', async (_how, end) => {
    const first = await client.tokens('gone@example.org')
    const { json } = await client.refresh(first.refresh_token)
    await end(json)
    expect(await client.refresh(first.refresh_token)).toMatchObject(INVALID_GRANT)
    const kept = await asSuperuser(
      stack,
      (sql) => sql`
      select 1 from refresh_response join refresh_family using (site_id, family_id)
      where revoked_at is not null`,
    )
    expect(kept).toEqual([])
  })

  test('leaves other sign-ins of the user alone', async () => {
    const [mine, other] = [
      await client.tokens('two@example.org'),
      await client.tokens('two@example.org'),
    ]
    await client.refresh(mine.refresh_token)
    expect((await client.refresh(mine.refresh_token, { scope: 'email' })).status).toBe(400)
    expect((await client.refresh(other.refresh_token)).status).toBe(200)
  })

  test('can ask for less, and for no more than was granted', async () => {
    const { refresh_token: token } = await client.tokens('vic@example.org')
    expect(await client.refresh(token, { scope: 'openid phone' })).toMatchObject({
      status: 400,
      json: { error: 'invalid_scope' },
    })
    const less = await client.refresh(token, { scope: 'email' })
    expect(less.json).toMatchObject({ scope: 'email' })
    expect(less.json).not.toHaveProperty('id_token')
    const again = await client.refresh(less.json.refresh_token)
    expect(again.json.scope).toBe('openid email profile')
  })

  test.each([
    ['unknown', { refresh_token: 'x'.repeat(43) }, 'invalid_grant'],
    ['missing', { refresh_token: undefined }, 'invalid_request'],
    ['of another client', { client_id: 'link' }, 'invalid_grant'],
  ] as const)('that is %s is refused, and stays good', async (_what, changes, error) => {
    const { refresh_token: token } = await client.tokens('vic@example.org')
    const link = [...client.pool.clients.values()].find(({ purpose }) => purpose === 'link')
    const given = 'client_id' in changes ? { client_id: link?.clientId } : changes
    expect(await client.refresh(token, given)).toMatchObject({ status: 400, json: { error } })
    expect((await client.refresh(token)).status).toBe(200)
  })

  test('of another pool or site is not known, and stays good', async () => {
    const { refresh_token: token } = await client.tokens('vic@example.org')
    for (const other of [
      await RelyingParty.of(stack, 'two.test'),
      await RelyingParty.of(stack, 'one.test', 'admin'),
    ]) {
      expect(await other.refresh(token)).toMatchObject(INVALID_GRANT)
    }
    expect((await client.refresh(token)).status).toBe(200)
  })

  test('ends 30 days after the sign-in, however often it was used', PATIENCE, async () => {
    const { refresh_token: token } = await client.tokens('vic@example.org')
    await using soon = await startStack({ beside: stack, platform: { clock: ahead(29 * DAY_MS) } })
    await using late = await startStack({ beside: stack, platform: { clock: ahead(30 * DAY_MS) } })
    const used = await (await client.at(soon)).refresh(token)
    expect(used.status).toBe(200)
    const there = await client.at(late)
    expect(await there.refresh(used.json.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('tells what has become of the user', async () => {
    const { refresh_token: token } = await client.tokens('old@example.org')
    await asSuperuser(
      stack,
      (sql) => sql`
      update pool_user set email = 'new@example.org', email_verified = false
      where email = 'old@example.org'`,
    )
    const { json } = await client.refresh(token)
    expect(decodeJwt(json.id_token)).toMatchObject({
      email: 'new@example.org',
      username: 'new@example.org',
      email_verified: false,
    })
    await asSuperuser(stack, (sql) => sql`delete from pool_user where email = 'new@example.org'`)
    expect(await client.refresh(json.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('is refused once all of the user’s tokens were ended', async () => {
    const { refresh_token: token } = await client.tokens('out@example.org')
    const sub = await client.user('out@example.org')
    await stack.context.users.revokeTokens(client.site, client.pool.userPoolId, sub)
    expect(await client.refresh(token)).toMatchObject(INVALID_GRANT)
    const next = await client.tokens('out@example.org')
    expect(await client.isTaken(next.access_token)).toBe(true)
    expect((await client.refresh(next.refresh_token)).status).toBe(200)
  })

  test('is nowhere in the database', async () => {
    const { refresh_token: token, token: cookie } = await client.tokens('vic@example.org')
    const { code } = await client.signIn(await client.user('vic@example.org'))
    const { json: next } = await client.refresh(token)
    for (const table of [
      'refresh_token',
      'refresh_response',
      'refresh_family',
      'sign_in_session',
      'authorization_code',
      'security_event',
    ]) {
      const rows = await asSuperuser(stack, (sql) => sql`select * from ${sql(table)}`)
      expect(rows.length).toBeGreaterThan(0)
      const text = JSON.stringify(rows)
      for (const secret of [token, cookie, code, next.refresh_token, next.access_token])
        expect(text).not.toContain(secret)
    }
  })
})

const ahead = (ms: number) => ({ now: () => new Date(Date.now() + ms) })
