import type { AuthorizationServer } from './authorization-server.ts'
import type { Case } from './case.ts'
import type { Fields } from './message.ts'
import { signedByStranger, unsigned } from './wrong-tokens.ts'

type Query = (server: AuthorizationServer) => Fields | Promise<Fields>

const here = ({ facts }: AuthorizationServer): Fields => ({ client_id: facts.clientId })
const back = ({ facts }: AuthorizationServer): Fields => ({
  post_logout_redirect_uri: facts.logoutUri,
})
const hinted = async (
  server: AuthorizationServer,
  change: (token: string) => string | Promise<string> = (token) => token,
): Promise<Fields> => ({ id_token_hint: await change((await server.tokens()).id_token) })

/** From a browser with a session. */
const QUERIES: readonly (readonly [string, Query])[] = [
  ['nothing', () => ({})],
  ['state alone', () => ({ state: 'st-1' })],
  ['an unknown client', () => ({ client_id: 'x'.repeat(26) })],
  ['client_id twice', ({ facts }) => ({ client_id: [facts.clientId, facts.clientId] })],
  ['an address without a client', back],
  ['an address of a stranger without a client', () => ({ post_logout_redirect_uri: EVIL })],
  ['an address of a stranger', (s) => ({ ...here(s), post_logout_redirect_uri: EVIL })],
  [
    'an address that goes on',
    (s) => ({ ...here(s), post_logout_redirect_uri: `${s.facts.logoutUri}/more` }),
  ],
  [
    'an address with a query',
    (s) => ({ ...here(s), post_logout_redirect_uri: `${s.facts.logoutUri}?a=1` }),
  ],
  [
    'an address for sign-in',
    (s) => ({ ...here(s), post_logout_redirect_uri: s.facts.redirectUri }),
  ],
  [
    'the address twice',
    (s) => ({ ...here(s), post_logout_redirect_uri: [s.facts.logoutUri, EVIL] }),
  ],
  ['state twice', (s) => ({ ...here(s), ...back(s), state: ['a', 'b'] })],
  ['state of 3000 characters', (s) => ({ ...here(s), ...back(s), state: 's'.repeat(3000) })],
  ['a hint that is no token', (s) => ({ ...back(s), id_token_hint: 'a.b.c' })],
  [
    'a hint that is no token, and a client',
    (s) => ({ ...here(s), ...back(s), id_token_hint: 'abc' }),
  ],
  ['a hint without a signature', async (s) => ({ ...back(s), ...(await hinted(s, unsigned)) })],
  ['a hint of a stranger', async (s) => ({ ...back(s), ...(await hinted(s, signedByStranger)) })],
  [
    'a hint of a stranger, and a client',
    async (s) => ({ ...here(s), ...back(s), ...(await hinted(s, signedByStranger)) }),
  ],
  [
    'a hint of another issuer',
    async (s) => ({ ...back(s), ...(await hinted(s, (t) => s.facts.resign(t, { iss: EVIL }))) }),
  ],
  [
    'a hint of another client than client_id',
    async (s) => ({ ...here(s), ...back(s), id_token_hint: await s.idTokenOfOther() }),
  ],
  [
    'a hint of an unknown client',
    async (s) => ({
      ...back(s),
      ...(await hinted(s, (t) => s.facts.resign(t, { aud: 'nobody' }))),
    }),
  ],
  [
    'an address of a stranger with a good hint',
    async (s) => ({ post_logout_redirect_uri: EVIL, ...(await hinted(s)) }),
  ],
  [
    'an access token as hint',
    async (s) => ({ ...back(s), id_token_hint: (await s.tokens()).access_token }),
  ],
  ['a client and its address, without a hint', (s) => ({ ...here(s), ...back(s) })],
  ['a client alone', here],
  ['another user’s hint', async (s) => ({ ...back(s), id_token_hint: await s.idTokenOfAnother() })],
  ['a hint twice', async (s) => twoHints((await s.tokens()).id_token)],
]

export const LOGOUT_CASES: readonly Case[] = [
  ...QUERIES.map(([name, query]): Case => [
    name,
    async (server) => {
      const headers = { cookie: await server.facts.signIn() }
      return server.send({ endpoint: 'logout', query: await query(server), headers })
    },
  ]),
  ['nothing, without a sign-in', (s) => s.send({ endpoint: 'logout' })],
  ['PUT', (s) => s.send({ endpoint: 'logout', method: 'PUT' })],
  [
    'POST of JSON',
    (s) =>
      s.send({
        endpoint: 'logout',
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      }),
  ],
]

const EVIL = 'https://evil.example/'

const twoHints = (token: string): Fields => ({ id_token_hint: [token, token] })
