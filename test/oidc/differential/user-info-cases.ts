import type { Tokens } from './authorization-server.ts'
import type { Case } from './case.ts'
import type { Message } from './message.ts'
import { signedByStranger } from './wrong-tokens.ts'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** With the tokens of a good sign-in. */
const ASKING_USER_INFO: readonly (readonly [
  string,
  (tokens: Tokens) => Partial<Message> | Promise<Partial<Message>>,
])[] = [
  ['no token', () => ({})],
  ['another scheme', () => ({ headers: { authorization: `Basic ${btoa('a:b')}` } })],
  ['a scheme alone', () => ({ headers: { authorization: 'Bearer' } })],
  ['a token without a scheme', (t) => ({ headers: { authorization: t.access_token } })],
  [
    'the scheme in small letters',
    (t) => ({ headers: { authorization: `bearer ${t.access_token}` } }),
  ],
  ['two tokens in the header', (t) => bearer(`${t.access_token} ${t.access_token}`)],
  ['a token that is none', () => bearer('abc')],
  ['a token with characters that no token has', () => bearer('a"b')],
  ['a token in the query', (t) => ({ query: { access_token: t.access_token } })],
  [
    'a token in the query and in the header',
    (t) => ({ query: { access_token: t.access_token }, ...bearer(t.access_token) }),
  ],
  ['a token in a form', (t) => ({ method: 'POST', form: { access_token: t.access_token } })],
  [
    'a token in a form and in the header',
    (t) => ({ method: 'POST', form: { access_token: t.access_token }, ...bearer(t.access_token) }),
  ],
  ['POST with the header', (t) => ({ method: 'POST', ...bearer(t.access_token) })],
  [
    'POST of JSON',
    (t) => ({
      method: 'POST',
      body: '{}',
      headers: { ...bearer(t.access_token).headers, 'content-type': 'application/json' },
    }),
  ],
  ['PUT', (t) => ({ method: 'PUT', ...bearer(t.access_token) })],
  ['an id token', (t) => bearer(t.id_token)],
  ['a refresh token', (t) => bearer(t.refresh_token)],
  ['a token of a stranger', async (t) => bearer(await signedByStranger(t.id_token))],
  ['a token that was cut', (t) => bearer(t.access_token.slice(0, -1))],
  ['a token of 10 KiB', () => bearer('x'.repeat(10_000))],
]

export const USER_INFO_CASES: readonly Case[] = [
  ...ASKING_USER_INFO.map(([name, message]): Case => [
    name,
    async (server) =>
      server.send({ endpoint: 'userInfo', ...(await message(await server.tokens())) }),
  ]),
  [
    'a token that is over',
    async (s) => s.userInfo(await s.facts.expire('access', (await s.tokens()).access_token)),
  ],
  [
    'a token that was revoked',
    async (server) => {
      const { access_token, refresh_token } = await server.tokens()
      await server.post('revoke', { client_id: server.facts.clientId, token: refresh_token })
      return server.userInfo(access_token)
    },
  ],
  [
    'a token without the scope openid',
    async (s) => s.userInfo((await s.tokens({ scope: 'email', nonce: undefined })).access_token),
  ],
]
