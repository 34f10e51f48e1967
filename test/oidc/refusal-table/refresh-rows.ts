import { expect } from 'vitest'

import type { RelyingParty } from '#test/relying-party.ts'

import { type Attack, type Row, type World, linkClientOf } from './world.ts'

type Changes = Readonly<Record<string, string | undefined>>

/** A refresh token of one.test's visitors with something wrong. It is good for its own client afterwards. */
const refreshing = (changes: (world: World) => Changes, by = (world: World) => world.one) =>
  async function prepare(world: World): Promise<Attack> {
    const { refresh_token: token } = await world.one.tokens(world.email())
    const party: RelyingParty = by(world)
    return {
      send: () => party.refresh(token, changes(world)),
      afterwards: async () => expect((await world.one.refresh(token)).status).toBe(200),
    }
  }

export const REFRESH_ROWS: readonly Row[] = [
  [
    'a refresh token that was used already, with other scopes, whose family dies',
    '400 invalid_grant',
    replayed,
  ],
  ['a refresh token of a sign-in that was revoked', '400 invalid_grant', revoked],
  ['a refresh token that is too old', '400 invalid_grant', tooOld],
  ['a refresh token of a user who is gone', '400 invalid_grant', ofNobody],
  [
    'a refresh token of another client',
    '400 invalid_grant',
    refreshing(({ one }) => ({ client_id: linkClientOf(one.pool) })),
  ],
  [
    'a refresh token of the other pool',
    '400 invalid_grant',
    refreshing(
      () => ({}),
      ({ admin }) => admin,
    ),
  ],
  [
    'a refresh token of another site',
    '400 invalid_grant',
    refreshing(
      () => ({}),
      ({ two }) => two,
    ),
  ],
  [
    'a refresh token for more than was granted',
    '400 invalid_scope',
    refreshing(() => ({ scope: 'openid aws.cognito.signin.user.admin' })),
  ],
  [
    'a refresh token with a secret',
    '401 invalid_client',
    refreshing(() => ({ client_secret: 'x' })),
  ],
]

async function replayed(world: World): Promise<Attack> {
  const { one } = world
  const first = await one.tokens(world.email())
  const { json: second } = await one.refresh(first.refresh_token)
  const { json: third } = await one.refresh(second.refresh_token)
  const all = [first, second, third].map((tokens) => tokens.access_token)
  for (const token of all) expect(await one.isTaken(token)).toBe(true)
  return {
    send: () => one.refresh(first.refresh_token, { scope: 'email' }),
    changes: ['refresh_family'],
    async afterwards() {
      for (const token of all) expect(await one.isTaken(token)).toBe(false)
      expect((await one.refresh(third.refresh_token)).status).toBe(400)
      // The browser is no client: it may sign in again.
      expect((await one.authorize({}, first.cookie)).headers['location']).toContain('code=')
    },
  }
}

async function revoked(world: World): Promise<Attack> {
  const { one } = world
  const tokens = await one.tokens(world.email())
  await one.revoke(tokens.refresh_token)
  return {
    send: () => one.refresh(tokens.refresh_token),
    afterwards: async () => expect(await one.isTaken(tokens.access_token)).toBe(false),
  }
}

async function tooOld(world: World): Promise<Attack> {
  const { one } = world
  const email = world.email()
  const { refresh_token: token } = await one.tokens(email)
  await world.expire('refresh_family', 'sub', await one.user(email))
  return { send: () => one.refresh(token) }
}

async function ofNobody(world: World): Promise<Attack> {
  const { one, stack } = world
  const email = world.email()
  const { refresh_token: token } = await one.tokens(email)
  await stack.inSite('one.test', (tx) =>
    tx.db.deleteFrom('pool_user').where('email', '=', email).execute(),
  )
  return { send: () => one.refresh(token) }
}
