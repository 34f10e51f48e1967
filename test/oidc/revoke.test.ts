import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

let stack: Stack
let client: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  client = await RelyingParty.of(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const OK = {
  status: 200,
  text: '{}',
  headers: { 'cache-control': 'no-store', 'content-type': 'application/json' },
}

describe('revoking', () => {
  test.each(['refresh_token', 'access_token'] as const)(
    'the %s ends the sign-in that it comes from',
    async (which) => {
      const tokens = await client.tokens('vic@example.org')
      const bystander = await client.tokens('vic@example.org')
      expect(await client.isTaken(tokens.access_token)).toBe(true)
      expect(await client.revoke(tokens[which])).toMatchObject(OK)
      expect(await client.isTaken(tokens.access_token)).toBe(false)
      expect((await client.refresh(tokens.refresh_token)).status).toBe(400)
      expect(await client.isTaken(bystander.access_token)).toBe(true)
      expect((await client.refresh(bystander.refresh_token)).status).toBe(200)
    },
  )

  test('ends it on the other replica too, where the token was in use', async () => {
    await using second = await startStack({ beside: stack })
    const there = await client.at(second)
    for (const kind of ['data', 'admin'] as const) {
      const { here, away } = await pairOf(kind, second)
      const tokens = await here.tokens(kind === 'data' ? 'vic@example.org' : 'ann@one.test')
      expect(await away.isTaken(tokens.access_token)).toBe(true)
      expect(await here.revoke(tokens.refresh_token)).toMatchObject(OK)
      expect(await here.isTaken(tokens.access_token)).toBe(false)
      await expect.poll(() => away.isTaken(tokens.access_token)).toBe(false)
    }
    const known = await client.tokens('vic@example.org')
    expect(await there.isTaken(known.access_token)).toBe(true)
  })

  test('ends it on both replicas when a used refresh token comes back', async () => {
    await using second = await startStack({ beside: stack })
    const there = await client.at(second)
    const tokens = await client.tokens('vic@example.org')
    const next = (await there.refresh(tokens.refresh_token)).json
    expect(await client.isTaken(next.access_token)).toBe(true)
    expect(await there.isTaken(next.access_token)).toBe(true)
    expect((await client.refresh(tokens.refresh_token, { scope: 'email' })).status).toBe(400)
    expect(await client.isTaken(next.access_token)).toBe(false)
    await expect.poll(() => there.isTaken(next.access_token)).toBe(false)
  })

  test.each([
    ['what was revoked already', (token: string) => revokedTwice(token)],
    ['an unknown token', () => client.revoke('x'.repeat(43))],
    ['an unknown JWT', () => client.revoke('a.b.c')],
    [
      'a token with a hint that is wrong',
      (token: string) => client.revoke(token, { token_type_hint: 'access_token' }),
    ],
    [
      'a token with an unknown hint',
      (token: string) => client.revoke(token, { token_type_hint: 'x' }),
    ],
  ])('%s is fine', async (_what, revoke) => {
    const { refresh_token: token } = await client.tokens('vic@example.org')
    expect(await revoke(token)).toMatchObject(OK)
  })

  test('says nothing of, and does nothing to, the token of another client, pool or site', async () => {
    const { refresh_token: refresh, access_token: access } = await client.tokens('vic@example.org')
    const link = [...client.pool.clients.values()].find(({ purpose }) => purpose === 'link')
    for (const token of [refresh, access]) {
      expect(await client.revoke(token, { client_id: link?.clientId ?? '' })).toMatchObject(OK)
      expect(await (await RelyingParty.of(stack, 'two.test')).revoke(token)).toMatchObject(OK)
      expect(await (await RelyingParty.of(stack, 'one.test', 'admin')).revoke(token)).toMatchObject(
        OK,
      )
    }
    expect(await client.isTaken(access)).toBe(true)
    expect((await client.refresh(refresh)).status).toBe(200)
  })

  test.each([
    ['no token', { client_id: 'own' }, 'invalid_request', 400],
    ['no client', { token: 'x' }, 'invalid_request', 400],
    ['an unknown client', { client_id: 'x'.repeat(26), token: 'x' }, 'invalid_client', 401],
    ['a secret', { client_id: 'own', token: 'x', client_secret: 'x' }, 'invalid_client', 401],
  ] as const)('with %s is refused', async (_what, fields, error, status) => {
    const clientId =
      'client_id' in fields && fields.client_id === 'own' ? { client_id: client.pool.clientId } : {}
    const answer = await client.post('revoke', { ...fields, ...clientId })
    expect(answer).toMatchObject({ status, json: { error } })
  })
})

async function revokedTwice(token: string) {
  await client.revoke(token)
  return client.revoke(token)
}

async function pairOf(kind: 'data' | 'admin', second: Stack) {
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  const here = await RelyingParty.of(stack, 'one.test', kind)
  return { here, away: await here.at(second) }
}
