import type { AuthorizationServer } from './authorization-server.ts'
import type { Case } from './case.ts'
import { type Fields, encoded } from './message.ts'
import { signedByStranger, unsigned } from './wrong-tokens.ts'

const uri = (change: (url: string) => string) => (server: AuthorizationServer) => ({
  redirect_uri: change(server.facts.redirectUri),
})
const twice =
  (name: string, second?: string) =>
  (server: AuthorizationServer): Fields => {
    const value = server.asking()[name]?.toString() ?? ''
    return { [name]: [value, second ?? value] }
  }

/** A good request except for these fields, from a browser without a session. */
const CHANGES: readonly (readonly [
  string,
  Fields | ((server: AuthorizationServer) => Fields | Promise<Fields>),
])[] = [
  ['no client_id', { client_id: undefined }],
  ['an empty client_id', { client_id: '' }],
  ['an unknown client', { client_id: 'x'.repeat(26) }],
  ['client_id twice', twice('client_id')],
  ['no redirect_uri', { redirect_uri: undefined }],
  ['redirect_uri twice', twice('redirect_uri')],
  ['redirect_uri twice, one of a stranger', twice('redirect_uri', 'https://evil.example/')],
  ['redirect_uri of a stranger', { redirect_uri: 'https://evil.example/' }],
  ['redirect_uri that goes on', uri((url) => `${url}/more`)],
  ['redirect_uri with a query', uri((url) => `${url}?next=evil`)],
  ['redirect_uri with a fragment', uri((url) => `${url}#x`)],
  ['redirect_uri with userinfo', uri((url) => url.replace('://', '://me@'))],
  ['redirect_uri on another port', uri((url) => url.replace(/:\d+/, ':1'))],
  ['redirect_uri in another case', uri((url) => url.replace('callback', 'Callback'))],
  ['redirect_uri with an encoded letter', uri((url) => url.replace('callback', '%63allback'))],
  ['redirect_uri with a blank', uri((url) => ` ${url}`)],
  ['redirect_uri that is a script', { redirect_uri: 'javascript:alert(1)' }],
  ['redirect_uri that is relative', { redirect_uri: '/auth/callback' }],
  [
    'a stranger’s redirect_uri with a request object',
    { redirect_uri: 'https://evil.example/', request: 'a.b.c' },
  ],
  ['no response_type', { response_type: undefined }],
  ['response_type token', { response_type: 'token' }],
  ['response_type id_token', { response_type: 'id_token' }],
  ['response_type code id_token', { response_type: 'code id_token' }],
  ['response_type code token', { response_type: 'code token' }],
  ['response_type none', { response_type: 'none' }],
  ['response_type unknown', { response_type: 'foo' }],
  ['response_type in capitals', { response_type: 'CODE' }],
  ['response_type code code', { response_type: 'code code' }],
  ['response_type twice', twice('response_type')],
  ['response_mode fragment', { response_mode: 'fragment' }],
  ['response_mode form_post', { response_mode: 'form_post' }],
  ['response_mode web_message', { response_mode: 'web_message' }],
  ['response_mode unknown', { response_mode: 'foo' }],
  ['response_mode twice', { response_mode: ['query', 'query'] }],
  ['no scope, with a nonce', { scope: undefined }],
  ['no scope', { scope: undefined, nonce: undefined }],
  ['an unknown scope', { scope: 'everything', nonce: undefined }],
  ['an unknown scope beside openid', { scope: 'openid everything' }],
  ['offline_access without consent', { scope: 'openid offline_access' }],
  ['scope with quotes', { scope: 'openid "email"' }],
  ['scope with two blanks', { scope: 'openid  email' }],
  ['scope with commas', { scope: 'openid,email' }],
  ['scope with a line break', { scope: 'openid\nemail' }],
  ['scope without openid, with a nonce', { scope: 'email' }],
  ['scope without openid, with max_age', { scope: 'email', nonce: undefined, max_age: '60' }],
  [
    'scope without openid, with a hint',
    { scope: 'email', nonce: undefined, id_token_hint: 'a.b.c' },
  ],
  ['scope twice', twice('scope')],
  ['prompt unknown', { prompt: 'shout' }],
  ['prompt create', { prompt: 'create' }],
  ['prompt in capitals', { prompt: 'LOGIN' }],
  ['prompt none login', { prompt: 'none login' }],
  ['prompt none consent', { prompt: 'none consent' }],
  ['prompt none none', { prompt: 'none none' }],
  ['prompt login select_account', { prompt: 'login select_account' }],
  ['prompt twice', { prompt: ['login', 'consent'] }],
  ['prompt none without a session', { prompt: 'none' }],
  ['max_age negative', { max_age: '-1' }],
  ['max_age that is a word', { max_age: 'soon' }],
  ['max_age that is a fraction', { max_age: '1.5' }],
  ['max_age in hexadecimal', { max_age: '0x10' }],
  ['max_age with an exponent', { max_age: '1e3' }],
  ['max_age of twenty digits', { max_age: '9'.repeat(20) }],
  ['max_age twice', { max_age: ['60', '60'] }],
  ['no code_challenge', { code_challenge: undefined }],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
  ['no code_challenge_method', { code_challenge_method: undefined }],
  ['code_challenge_method plain', { code_challenge_method: 'plain' }],
  ['code_challenge_method in small letters', { code_challenge_method: 's256' }],
  ['code_challenge_method S512', { code_challenge_method: 'S512' }],
  ['code_challenge of 42 characters', { code_challenge: 'x'.repeat(42) }],
  ['code_challenge of 44 characters', { code_challenge: 'x'.repeat(44) }],
  ['code_challenge of 129 characters', { code_challenge: 'x'.repeat(129) }],
  ['code_challenge with padding', { code_challenge: `${'x'.repeat(43)}=` }],
  ['code_challenge in base64', { code_challenge: `${'x'.repeat(41)}+/` }],
  ['code_challenge twice', twice('code_challenge')],
  ['code_challenge_method twice', { code_challenge_method: ['plain', 'S256'] }],
  ['a request object', { request: 'a.b.c' }],
  ['a request object without a signature', { request: unsigned({ client_id: 'x' }) }],
  ['an empty request object', { request: '' }],
  ['request_uri', { request_uri: 'https://evil.example/request' }],
  ['request_uri of a pushed request', { request_uri: 'urn:ietf:params:oauth:request_uri:abc' }],
  ['registration', { registration: '{}' }],
  ['claims', { claims: '{"id_token":{"email":{"essential":true}}}' }],
  ['claims that are no JSON', { claims: '{' }],
  ['id_token_hint that is no token', { id_token_hint: 'a.b.c' }],
  ['id_token_hint without a signature', async (s) => hint(unsigned(await idTokenOf(s)))],
  ['id_token_hint of a stranger', async (s) => hint(await signedByStranger(await idTokenOf(s)))],
  ['id_token_hint of another client', async (s) => hint(await s.idTokenOfOther())],
  [
    'id_token_hint of another issuer',
    async (s) => hint(await idTokenOf(s, 'https://evil.example')),
  ],
  ['id_token_hint that is an access token', async (s) => hint((await s.tokens()).access_token)],
  ['identity_provider unknown', { identity_provider: 'Facebook' }],
  ['login_hint of 400 characters', { login_hint: 'x'.repeat(400) }],
  ['display unknown', { display: 'hologram' }],
  ['acr_values unknown', { acr_values: 'urn:nobody:knows' }],
  ['an unknown parameter, twice', { anything: ['1', '2'] }],
  ['state of 3000 characters', { state: 's'.repeat(3000) }],
  ['nonce of 600 characters', { nonce: 'n'.repeat(600) }],
  ['more than 8 KiB', { anything: 'x'.repeat(8300) }],
  ['state with a NUL', { state: 'a\u0000b' }],
  ['state with a line break', { state: 'a\r\nset-cookie: x=1' }],
  ['nonce with a NUL', { nonce: 'a\u0000b' }],
  ['state twice', twice('state')],
  ['nonce twice', twice('nonce')],
  ['state that would add parameters', { state: 'a&code=stolen', prompt: 'none' }],
  ['state in other letters', { state: 'Ωß✓', prompt: 'none' }],
  ['no state', { state: undefined, prompt: 'none' }],
  ['an empty state', { state: '', prompt: 'none' }],
]

/** From a browser with a session; nothing may be asked. */
const SIGNED_IN: readonly (readonly [
  string,
  (server: AuthorizationServer) => Fields | Promise<Fields>,
])[] = [
  ['prompt none with max_age 0', () => ({ max_age: '0' })],
  ['prompt none with another user’s id_token_hint', async (s) => hint(await s.idTokenOfAnother())],
  ['prompt none with an id_token_hint that is over', async (s) => hint(await expired(s))],
  ['prompt none with an unknown scope', () => ({ scope: 'openid everything' })],
]

const OTHER_WAYS: readonly Case[] = [
  ['a form', (server) => server.post('authorize', server.asking())],
  ['an empty form', (server) => server.post('authorize', {})],
  ['a form with state twice', (s) => s.post('authorize', s.asking(twice('state')(s)))],
  ['a form with client_id twice', (s) => s.post('authorize', s.asking(twice('client_id')(s)))],
  [
    'a form with a stranger’s redirect_uri',
    (s) => s.post('authorize', s.asking({ redirect_uri: 'https://evil.example/' })),
  ],
  ['a form with prompt none', (s) => s.post('authorize', s.asking({ prompt: 'none' }))],
  [
    'POST with the query alone',
    (s) => s.send({ endpoint: 'authorize', method: 'POST', query: s.asking() }),
  ],
  [
    'POST of JSON',
    (s) =>
      s.send({
        endpoint: 'authorize',
        method: 'POST',
        body: JSON.stringify(s.asking()),
        headers: { 'content-type': 'application/json' },
      }),
  ],
  ['PUT', (s) => s.send({ endpoint: 'authorize', method: 'PUT', query: s.asking() })],
  ['no parameters', (s) => s.send({ endpoint: 'authorize' })],
  [
    'a broken percent sign in state',
    (s) =>
      s.send({
        endpoint: 'authorize',
        query: `${encoded(s.asking({ state: undefined, prompt: 'none' }))}&state=%zz`,
      }),
  ],
  [
    'state that is no UTF-8',
    (s) =>
      s.send({
        endpoint: 'authorize',
        query: `${encoded(s.asking({ state: undefined, prompt: 'none' }))}&state=%ff`,
      }),
  ],
  [
    'prompt consent when signed in',
    async (s) => s.authorize({ prompt: 'consent' }, await s.facts.signIn()),
  ],
  [
    'prompt select_account when signed in',
    async (s) => s.authorize({ prompt: 'select_account' }, await s.facts.signIn()),
  ],
  ['max_age 0 when signed in', async (s) => s.authorize({ max_age: '0' }, await s.facts.signIn())],
  ['an unknown session', (s) => s.authorize({ prompt: 'none' }, MADE_UP_COOKIES)],
]

export const AUTHORIZE_CASES: readonly Case[] = [
  ...CHANGES.map(([name, changes]): Case => [
    name,
    async (server) =>
      server.authorize(typeof changes === 'function' ? await changes(server) : changes),
  ]),
  ...SIGNED_IN.map(([name, changes]): Case => [
    name,
    async (server) =>
      server.authorize({ prompt: 'none', ...(await changes(server)) }, await server.facts.signIn()),
  ]),
  ...OTHER_WAYS,
]

const MADE_UP_COOKIES = `croft_session=${'x'.repeat(43)}; _session=${'x'.repeat(43)}`

const hint = (id_token_hint: string): Fields => ({ id_token_hint })

async function idTokenOf(server: AuthorizationServer, issuer?: string): Promise<string> {
  const { id_token } = await server.tokens()
  return issuer === undefined ? id_token : server.facts.resign(id_token, { iss: issuer })
}

async function expired(server: AuthorizationServer): Promise<string> {
  const { id_token } = await server.tokens()
  return server.facts.resign(id_token, { iat: 1_700_000_000, exp: 1_700_003_600 })
}
