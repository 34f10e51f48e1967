import { expect } from 'vitest'

import type { Answer } from '#test/http-client.ts'

import { type Attack, type Row, type World, linkClientOf } from './world.ts'

type Changes = Readonly<Record<string, string | undefined>>

/** From a browser that is signed in, so that a request that passed would bring a code. */
const asking = (changes: (world: World) => Changes) =>
  async function prepare(world: World): Promise<Attack> {
    const { one } = world
    const { cookie } = await one.signIn(await one.user(world.email()))
    return {
      send: () => one.authorize(changes(world), cookie),
      afterwards: () => isGood(world, cookie),
    }
  }

async function isGood({ one }: World, cookie: string): Promise<void> {
  const answer = await one.authorize({}, cookie)
  expect(new URL(answer.headers['location'] ?? '').searchParams.get('code')).toMatch(/^[\w-]{43}$/)
}

/** What the registered URI is made to look like. */
const FOREIGN: readonly (readonly [name: string, of: (registered: URL, world: World) => string])[] =
  [
    ['of another site', (_, { two }) => two.redirectUri],
    ['of the other pool', (_, { admin }) => admin.redirectUri],
    ['with more at its end', ({ href }) => `${href}2`],
    ['with more of a path', ({ href }) => `${href}/more`],
    ['with the registered one at its end', ({ href }) => `http://evil.test/${href}`],
    [
      'on a host with the same prefix',
      ({ host, pathname }) => `http://${host}.evil.test${pathname}`,
    ],
    ['on a host with the same suffix', ({ host, pathname }) => `http://evil-${host}${pathname}`],
    ['on a subdomain', ({ host, pathname }) => `http://evil.${host}${pathname}`],
    ['in another case', ({ origin }) => `${origin}/auth/Callback`],
    ['on a host in another case', ({ href }) => href.replace('one.test', 'ONE.test')],
    ['on another port', ({ pathname }) => `http://one.test:1${pathname}`],
    ['without its port', ({ pathname }) => `http://one.test${pathname}`],
    ['of another scheme', ({ href }) => href.replace('http:', 'https:')],
    ['of a script', () => 'javascript:alert(1)//'],
    ['with a fragment', ({ href }) => `${href}#top`],
    ['with a query', ({ href }) => `${href}?next=evil`],
    ['with a user', ({ href }) => href.replace('//', '//user@')],
    ['as the user of a host', ({ host, pathname }) => `http://${host}@evil.test${pathname}`],
    ['with a slash at its end', ({ href }) => `${href}/`],
    ['with two slashes', ({ origin, pathname }) => `${origin}/${pathname}`],
    ['with a letter escaped', ({ origin }) => `${origin}/%61uth/callback`],
    ['with a slash escaped', ({ origin }) => `${origin}/auth%2Fcallback`],
    ['over a folder and back', ({ origin }) => `${origin}/x/../auth/callback`],
    ['out of its folder', ({ href }) => `${href}/../../evil`],
    ['with backslashes', ({ host, pathname }) => `http:\\\\${host}${pathname}`],
    ['without scheme', ({ host, pathname }) => `//${host}${pathname}`],
    ['of a path alone', ({ pathname }) => pathname],
    ['after a blank', ({ href }) => ` ${href}`],
    ['before a line break', ({ href }) => `${href}\r\nSet-Cookie: a=b`],
    ['before a NUL', ({ href }) => `${href}\0`],
    ['with a dot after its host', ({ href }) => href.replace('one.test', 'one.test.')],
  ]

const REDIRECT_ROWS = FOREIGN.map(([name, of]): Row => [
  `a redirect URI ${name}`,
  '400 invalid_redirect_uri',
  asking((world) => ({ redirect_uri: of(new URL(world.one.redirectUri), world) })),
])

export const AUTHORIZE_ROWS: readonly Row[] = [
  ...REDIRECT_ROWS,
  ['no redirect URI', '400 invalid_request', asking(() => ({ redirect_uri: undefined }))],
  ['two redirect URIs', '400 invalid_request', twice],
  ['a client of the other pool', '400 invalid_client', asking(({ admin }) => clientOf(admin))],
  ['a client of another site', '400 invalid_client', asking(({ two }) => clientOf(two))],
  [
    'the link client for a password',
    '303 unauthorized_client',
    asking(({ one }) => ({ client_id: linkClientOf(one.pool) })),
  ],
  ['PKCE with plain', '303 invalid_request', asking(() => ({ code_challenge_method: 'plain' }))],
  ['PKCE without method', '303 invalid_request', asking(() => ({ code_challenge_method: '' }))],
  ['no PKCE', '303 invalid_request', asking(() => ({ code_challenge: undefined }))],
  ['the implicit flow', '303 unsupported_response_type', asking(() => responseType('token'))],
  ['the hybrid flow', '303 unsupported_response_type', asking(() => responseType('code id_token'))],
  ['a fragment', '303 unsupported_response_mode', asking(() => ({ response_mode: 'fragment' }))],
  ['a request object', '303 request_not_supported', asking(() => ({ request: 'e30.e30.' }))],
  ['an unknown scope', '303 invalid_scope', asking(() => ({ scope: 'root' }))],
  ['a huge state', '303 invalid_request', asking(() => ({ state: 'x'.repeat(4000) }))],
  ['a state that ends a header', '303 invalid_request', asking(() => ({ state: 'a\r\nb: c' }))],
  ['a huge request', '400 invalid_request', asking(() => ({ nonce: 'x'.repeat(9000) }))],
  ['ten thousand parameters', '400 invalid_request', crowd],
]

const clientOf = ({ pool }: { readonly pool: { readonly clientId: string } }): Changes => ({
  client_id: pool.clientId,
})

const responseType = (type: string): Changes => ({ response_type: type })

/** The good request of a browser that is signed in, with something put behind it. */
async function followedBy(world: World, more: string): Promise<Attack> {
  const { one } = world
  const { cookie } = await one.signIn(await one.user(world.email()))
  const query = `${one.params().toString()}&${more}`
  return { send: (): Promise<Answer> => one.get(`/oauth2/authorize?${query}`, cookie) }
}

function twice(world: World): Promise<Attack> {
  return followedBy(world, `redirect_uri=${encodeURIComponent('http://evil.test/')}`)
}

function crowd(world: World): Promise<Attack> {
  return followedBy(world, 'a&'.repeat(4_500))
}
