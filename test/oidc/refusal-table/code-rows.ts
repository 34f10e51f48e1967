import { expect } from 'vitest'

import type { RelyingParty } from '#test/relying-party.ts'

import { type Attack, type Row, type World, linkClientOf } from './world.ts'

type Changes = Readonly<Record<string, string | undefined>>

async function codeOf(world: World, party = world.one): Promise<string> {
  const email = party.pool.kind === 'admin' ? `ann@${party.host}` : world.email()
  if (party.pool.kind === 'admin') await activate(world, email)
  return (await party.signIn(await party.user(email))).code
}

/** The invited super-admin, as if the invite had been taken. */
async function activate({ stack, admin }: World, email: string): Promise<void> {
  await stack.inSite(admin.host, (tx) =>
    tx.db.updateTable('pool_user').set({ status: 'ACTIVE' }).where('email', '=', email).execute(),
  )
}

/** A code of one.test's visitors, asked for with something wrong. It is good for its own client afterwards. */
const asked = (changes: (world: World) => Changes, by = (world: World) => world.one) =>
  async function prepare(world: World): Promise<Attack> {
    const code = await codeOf(world)
    const party: RelyingParty = by(world)
    return {
      send: () => party.exchange(code, { code_verifier: world.one.verifier, ...changes(world) }),
      afterwards: async () => expect((await world.one.exchange(code)).status).toBe(200),
    }
  }

export const CODE_ROWS: readonly Row[] = [
  ['a code that was used already, whose tokens die', '400 invalid_grant', replayed],
  [
    'a code of another client',
    '400 invalid_grant',
    asked(({ one }) => ({ client_id: linkClientOf(one.pool) })),
  ],
  ['a code of the other pool', '400 invalid_grant', asked(noChange, ({ admin }) => admin)],
  ['a code of another site', '400 invalid_grant', asked(noChange, ({ two }) => two)],
  ['a code with another’s verifier', '400 invalid_grant', asked(({ two }) => withVerifierOf(two))],
  ['a code without verifier', '400 invalid_grant', asked(() => ({ code_verifier: undefined }))],
  [
    'a code with the challenge for a verifier',
    '400 invalid_grant',
    asked(({ one }) => ({ code_verifier: one.params().get('code_challenge') ?? '' })),
  ],
  [
    'a code with a verifier that is too short',
    '400 invalid_request',
    asked(() => ({ code_verifier: 'short' })),
  ],
  [
    'a code with another redirect URI',
    '400 invalid_grant',
    asked(({ two }) => ({ redirect_uri: two.redirectUri })),
  ],
  [
    'a code without redirect URI',
    '400 invalid_request',
    asked(() => ({ redirect_uri: undefined })),
  ],
  ['a code with a client secret', '401 invalid_client', asked(() => ({ client_secret: 'x' }))],
  ['a code of a client that is not there', '401 invalid_client', asked(() => ({ client_id: 'x' }))],
  [
    'a code with another grant type',
    '400 unsupported_grant_type',
    asked(() => ({ grant_type: 'password' })),
  ],
  ['a code that is too old', '400 invalid_grant', tooOld],
  ['a code whose browser has signed out', '400 invalid_grant', signedOut],
  ['a code in the address of the token endpoint', '405 MethodNotAllowed', inAddress],
  ['a code as a bearer token', '401 Unauthorized', asBearer],
]

function noChange(): Changes {
  return {}
}

const withVerifierOf = ({ verifier }: RelyingParty): Changes => ({ code_verifier: verifier })

async function replayed(world: World): Promise<Attack> {
  const { one } = world
  const code = await codeOf(world)
  const { json: tokens } = await one.exchange(code)
  expect(await one.isTaken(tokens.access_token)).toBe(true)
  return {
    send: () => one.exchange(code),
    changes: ['refresh_family'],
    async afterwards() {
      expect(await one.isTaken(tokens.access_token)).toBe(false)
      expect((await one.userInfo(tokens.access_token)).status).toBe(401)
      expect((await one.refresh(tokens.refresh_token)).status).toBe(400)
    },
  }
}

async function tooOld(world: World): Promise<Attack> {
  const sub = await world.one.user(world.email())
  const { code } = await world.one.signIn(sub)
  await world.expire('authorization_code', 'sub', sub)
  return { send: () => world.one.exchange(code) }
}

async function signedOut(world: World): Promise<Attack> {
  const { one } = world
  const { code, token } = await one.signIn(await one.user(world.email()))
  await world.signOut(one, token)
  return { send: () => one.exchange(code) }
}

async function inAddress(world: World): Promise<Attack> {
  const { one } = world
  const code = await codeOf(world)
  const query = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: one.pool.clientId,
    redirect_uri: one.redirectUri,
    code_verifier: one.verifier,
    code,
  })
  return { send: () => one.get(`/oauth2/token?${query.toString()}`) }
}

async function asBearer(world: World): Promise<Attack> {
  const token = await codeOf(world)
  const body = { payload: {} }
  return { send: () => world.stack.call('one.test', 'POST', '/data/nothing', { token, body }) }
}
