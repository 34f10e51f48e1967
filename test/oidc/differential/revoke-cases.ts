import type { AuthorizationServer, Tokens } from './authorization-server.ts'
import type { Case } from './case.ts'
import type { Fields } from './message.ts'

/** A good revocation of a refresh token, except for the changes. */
const REVOCATIONS: readonly (readonly [
  string,
  Fields | ((server: AuthorizationServer, tokens: Tokens) => Fields),
])[] = [
  ['no token', { token: undefined }],
  ['an empty token', { token: '' }],
  ['an unknown token', { token: 'x'.repeat(43) }],
  ['a token with a NUL', { token: 'a\u0000b' }],
  ['token twice', (_, { refresh_token }) => ({ token: [refresh_token, refresh_token] })],
  ['a hint that is wrong', { token_type_hint: 'access_token' }],
  ['an unknown hint', { token_type_hint: 'foo' }],
  ['a hint twice', { token_type_hint: ['access_token', 'refresh_token'] }],
  ['no client_id', { client_id: undefined }],
  ['an unknown client', { client_id: 'x'.repeat(26) }],
  ['another client’s token', ({ facts }) => ({ client_id: facts.otherClientId })],
  ['client_secret', { client_secret: 'secret' }],
  ['an access token', (_, { access_token }) => ({ token: access_token })],
  ['an id token', (_, { id_token }) => ({ token: id_token })],
  ['a token that looks like a JWT', { token: 'a.b.c' }],
]

export const REVOKE_CASES: readonly Case[] = [
  ...REVOCATIONS.map(([name, changes]): Case => [
    name,
    async (server) => {
      const tokens = await server.tokens()
      return server.post('revoke', {
        client_id: server.facts.clientId,
        token: tokens.refresh_token,
        ...(typeof changes === 'function' ? changes(server, tokens) : changes),
      })
    },
  ]),
  ['GET', async (s) => s.send({ endpoint: 'revoke', query: await revoking(s) })],
  [
    'JSON',
    async (s) =>
      s.send({
        endpoint: 'revoke',
        method: 'POST',
        body: JSON.stringify(await revoking(s)),
        headers: { 'content-type': 'application/json' },
      }),
  ],
  [
    'Basic',
    async (s) => s.post('revoke', await revoking(s), { authorization: `Basic ${btoa('a:b')}` }),
  ],
  [
    'a token that another client tried to revoke, at the user info',
    async (server) => {
      const { access_token, refresh_token } = await server.tokens()
      await server.post('revoke', { client_id: server.facts.otherClientId, token: refresh_token })
      return server.userInfo(access_token)
    },
  ],
  [
    'a token a second time',
    async (server) => {
      const fields = await revoking(server)
      await server.post('revoke', fields)
      return server.post('revoke', fields)
    },
  ],
  ['a code', async (s) => s.post('revoke', { client_id: s.facts.clientId, token: await s.code() })],
]

const revoking = async (server: AuthorizationServer): Promise<Fields> => ({
  client_id: server.facts.clientId,
  token: (await server.tokens()).refresh_token,
})
