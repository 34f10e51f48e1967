import type { AuthorizationServer } from './authorization-server.ts'
import type { Case } from './case.ts'
import { type Changes, changesFor } from './changes.ts'

/** A good refresh token, used with these changes. */
const REFRESHES: readonly (readonly [string, Changes])[] = [
  ['no refresh_token', { refresh_token: undefined }],
  ['an unknown refresh_token', { refresh_token: 'x'.repeat(43) }],
  ['a refresh_token with a NUL', { refresh_token: 'a\u0000b' }],
  ['refresh_token twice', { refresh_token: ['x'.repeat(43), 'x'.repeat(43)] }],
  ['another client’s refresh_token', ({ facts }) => ({ client_id: facts.otherClientId })],
  ['a refresh without client_id', { client_id: undefined }],
  ['a refresh of an unknown client', { client_id: 'x'.repeat(26) }],
  ['a wider scope', { scope: 'openid email profile offline_access' }],
  ['an unknown scope', { scope: 'everything' }],
  ['a narrower scope', { scope: 'openid' }],
  ['an empty scope', { scope: '' }],
  ['scope with quotes', { scope: 'openid "email"' }],
  ['scope twice', { scope: ['openid', 'email'] }],
  ['a refresh with client_secret', { client_secret: 'secret' }],
]

const OTHER_REFRESHES: readonly Case[] = [
  [
    'a refresh_token a second time, for fewer scopes',
    async (server) => {
      const { refresh_token } = await server.tokens()
      await server.refresh(refresh_token)
      return server.refresh(refresh_token, { scope: 'email' })
    },
  ],
  [
    'the next refresh_token of one that came twice, for different scopes',
    async (s) => s.refresh((await reused(s)).refresh_token),
  ],
  [
    'the access token of a refresh_token that came twice, for different scopes',
    async (s) => s.userInfo((await reused(s)).access_token),
  ],
  [
    'a refresh_token that is over',
    async (s) => s.refresh(await s.facts.expire('refresh', (await s.tokens()).refresh_token)),
  ],
  [
    'a refresh_token that was revoked',
    async (server) => {
      const { refresh_token } = await server.tokens()
      await server.post('revoke', { client_id: server.facts.clientId, token: refresh_token })
      return server.refresh(refresh_token)
    },
  ],
  ['an access token as refresh_token', async (s) => s.refresh((await s.tokens()).access_token)],
  ['an id token as refresh_token', async (s) => s.refresh((await s.tokens()).id_token)],
  ['a code as refresh_token', async (s) => s.refresh(await s.code())],
  ['a refresh_token as code', async (s) => s.exchange((await s.tokens()).refresh_token)],
  [
    'the owner’s refresh after another client tried',
    async (server) => {
      const { refresh_token } = await server.tokens()
      await server.refresh(refresh_token, { client_id: server.facts.otherClientId })
      return server.refresh(refresh_token)
    },
  ],
  [
    'a refresh after a wider scope was refused',
    async (server) => {
      const { refresh_token } = await server.tokens()
      await server.refresh(refresh_token, { scope: 'openid admin' })
      return server.refresh(refresh_token)
    },
  ],
]

export const REFRESH_CASES: readonly Case[] = [
  ...REFRESHES.map(([name, changes]): Case => [
    name,
    async (server) =>
      server.refresh((await server.tokens()).refresh_token, changesFor(server, changes)),
  ]),
  ...OTHER_REFRESHES,
]

async function reused(server: AuthorizationServer) {
  const { refresh_token } = await server.tokens()
  const { json } = await server.refresh(refresh_token)
  await server.refresh(refresh_token, { scope: 'email' })
  return json
}
