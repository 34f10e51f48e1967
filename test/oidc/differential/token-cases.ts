import type { AuthorizationServer } from './authorization-server.ts'
import type { Case } from './case.ts'
import { type Changes, changesFor } from './changes.ts'
import { type Fields, encoded } from './message.ts'

const FORM = 'application/x-www-form-urlencoded'
const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` })

/** A good code, exchanged with these changes. */
const EXCHANGES: readonly (readonly [string, Changes])[] = [
  ['no grant_type', { grant_type: undefined }],
  ['an empty grant_type', { grant_type: '' }],
  ['grant_type unknown', { grant_type: 'foo' }],
  ['grant_type password', { grant_type: 'password', username: 'a', password: 'b' }],
  ['grant_type client_credentials', { grant_type: 'client_credentials' }],
  ['grant_type implicit', { grant_type: 'implicit' }],
  ['grant_type twice', { grant_type: ['authorization_code', 'authorization_code'] }],
  ['no client_id', { client_id: undefined }],
  ['an unknown client', { client_id: 'x'.repeat(26) }],
  ['client_id twice', ({ facts }) => ({ client_id: [facts.clientId, facts.otherClientId] })],
  ['no code', { code: undefined }],
  ['an empty code', { code: '' }],
  ['an unknown code', { code: 'x'.repeat(43) }],
  ['a code of 5000 characters', { code: 'x'.repeat(5000) }],
  ['a code with a NUL', { code: 'a\u0000b' }],
  ['code twice', { code: ['x'.repeat(43), 'x'.repeat(43)] }],
  ['another client’s code', ({ facts }) => ({ client_id: facts.otherClientId })],
  ['no redirect_uri', { redirect_uri: undefined }],
  ['redirect_uri of a stranger', { redirect_uri: 'https://evil.example/' }],
  ['redirect_uri that goes on', ({ facts }) => ({ redirect_uri: `${facts.redirectUri}/` })],
  ['redirect_uri twice', ({ facts }) => ({ redirect_uri: [facts.redirectUri, facts.redirectUri] })],
  ['no code_verifier', { code_verifier: undefined }],
  ['another code_verifier', { code_verifier: 'x'.repeat(43) }],
  ['code_verifier of 42 characters', { code_verifier: 'x'.repeat(42) }],
  ['code_verifier of 129 characters', { code_verifier: 'x'.repeat(129) }],
  ['code_verifier with a blank', { code_verifier: `${'x'.repeat(43)} ` }],
  [
    'the challenge as the verifier',
    (server) => ({ code_verifier: server.asking()['code_challenge'] }),
  ],
  ['code_verifier twice', ({ verifier }) => ({ code_verifier: [verifier, verifier] })],
  ['client_secret in the body', { client_secret: 'secret' }],
  ['an empty client_secret', { client_secret: '' }],
  [
    'a client assertion',
    {
      client_assertion: 'a.b.c',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    },
  ],
  ['an unknown parameter', { anything: '1' }],
  ['an unknown parameter, twice', { anything: ['1', '2'] }],
  ['resource twice', { resource: ['https://a.example', 'https://b.example'] }],
  ['more than 64 KiB', { anything: 'x'.repeat(66_000) }],
]

/** The same, with these headers. */
const HEADERS: readonly (readonly [
  string,
  (server: AuthorizationServer) => Record<string, string>,
  Fields?,
])[] = [
  [
    'Basic with a secret',
    ({ facts }) => basic(`${facts.clientId}:secret`),
    { client_id: undefined },
  ],
  ['Basic without a secret', ({ facts }) => basic(`${facts.clientId}:`), { client_id: undefined }],
  ['Basic and client_id', ({ facts }) => basic(`${facts.clientId}:secret`)],
  [
    'Basic and client_secret',
    ({ facts }) => basic(`${facts.clientId}:secret`),
    { client_secret: 'secret' },
  ],
  ['Basic of another client', ({ facts }) => basic(`${facts.otherClientId}:secret`)],
  ['Basic of an unknown client', () => basic('nobody:secret'), { client_id: undefined }],
  ['Basic that is no base64', () => ({ authorization: 'Basic %%%' })],
  ['Basic with nothing behind it', () => ({ authorization: 'Basic' })],
  ['Bearer as client authentication', () => ({ authorization: 'Bearer abc' })],
  ['text as content type', () => ({ 'content-type': 'text/plain' })],
  ['multipart as content type', () => ({ 'content-type': 'multipart/form-data; boundary=x' })],
  ['another charset', () => ({ 'content-type': `${FORM}; charset=utf-16` })],
]

const OTHER_WAYS: readonly Case[] = [
  [
    'JSON',
    async (server) =>
      server.send({
        endpoint: 'token',
        method: 'POST',
        body: JSON.stringify(server.exchanging(await server.code())),
        headers: { 'content-type': 'application/json' },
      }),
  ],
  ['an empty body', (s) => s.send({ endpoint: 'token', method: 'POST', body: '' })],
  ['an empty form', (server) => server.post('token', {})],
  ['GET', async (s) => s.send({ endpoint: 'token', query: s.exchanging(await s.code()) })],
  [
    'PUT',
    async (s) => s.send({ endpoint: 'token', method: 'PUT', form: s.exchanging(await s.code()) }),
  ],
  [
    'POST with the query alone',
    async (s) =>
      s.send({ endpoint: 'token', method: 'POST', form: {}, query: s.exchanging(await s.code()) }),
  ],
  [
    'a form with a broken percent sign',
    async (s) =>
      s.send({
        endpoint: 'token',
        method: 'POST',
        body: `${encoded(s.exchanging('x', { code: undefined }))}&code=%zz`,
        headers: { 'content-type': FORM },
      }),
  ],
  [
    'a code a second time',
    async (server) => {
      const code = await server.code()
      await server.exchange(code)
      return server.exchange(code)
    },
  ],
  [
    'a code a second time, by another client',
    async (server) => {
      const code = await server.code()
      await server.exchange(code)
      return server.exchange(code, { client_id: server.facts.otherClientId })
    },
  ],
  [
    'the refresh token of a code that came twice',
    async (s) => s.refresh((await replayed(s)).refresh_token),
  ],
  [
    'the access token of a code that came twice',
    async (s) => s.userInfo((await replayed(s)).access_token),
  ],
  [
    'a code that is over',
    async (server) => server.exchange(await server.facts.expire('code', await server.code())),
  ],
  ['the right verifier after a wrong one', (s) => rightAfter(s, { code_verifier: 'x'.repeat(43) })],
  [
    'the right client after another one',
    (s) => rightAfter(s, { client_id: s.facts.otherClientId }),
  ],
  [
    'the right address after another one',
    (s) => rightAfter(s, { redirect_uri: 'https://evil.example/' }),
  ],
]

export const TOKEN_CASES: readonly Case[] = [
  ...EXCHANGES.map(([name, changes]): Case => [
    name,
    async (server) => server.exchange(await server.code(), changesFor(server, changes)),
  ]),
  ...HEADERS.map(([name, headers, changes = {}]): Case => [
    name,
    async (server) => server.exchange(await server.code(), changes, headers(server)),
  ]),
  ...OTHER_WAYS,
]

async function replayed(server: AuthorizationServer) {
  const code = await server.code()
  const { json } = await server.exchange(code)
  await server.exchange(code)
  return json
}

async function rightAfter(server: AuthorizationServer, wrong: Fields) {
  const code = await server.code()
  await server.exchange(code, wrong)
  return server.exchange(code)
}
