import type { RelyingParty } from '#test/relying-party.ts'

import { type Attack, PASSWORD, type Row, type World } from './world.ts'

const SILENT = { prompt: 'none' }

/** A browser's session somewhere, brought to the sign-in of one.test's visitors. */
const bringing =
  (cookieOf: (world: World) => Promise<string>) =>
  async (world: World): Promise<Attack> => {
    const cookie = await cookieOf(world)
    return { send: () => world.one.authorize(SILENT, cookie) }
  }

const signedInAt = async (world: World, party: RelyingParty): Promise<string> =>
  (await party.signIn(await party.user(world.email()))).cookie

/** Addresses to which `/logout` must not lead. */
const FOREIGN: readonly (readonly [name: string, of: (registered: URL, world: World) => string])[] =
  [
    ['elsewhere', () => 'https://evil.test/'],
    ['of another site', (_, { two }) => two.logoutUri],
    ['of the other pool', (_, { admin }) => admin.logoutUri],
    ['of the client’s callback', (_, { one }) => one.redirectUri],
    ['with more of a path', ({ href }) => `${href}more`],
    ['with a fragment', ({ href }) => `${href}#top`],
    ['with a query', ({ href }) => `${href}?next=evil`],
    ['with a user', ({ href }) => href.replace('//', '//user@')],
    ['as the user of a host', ({ host }) => `http://${host}@evil.test/`],
    ['without scheme', () => '//evil.test/'],
    ['of a script', () => 'javascript:alert(1)'],
    ['with a line break', ({ href }) => `${href}\r\nlocation: https://evil.test/`],
  ]

const logoutRows = FOREIGN.flatMap(([name, of]) =>
  (['logout_uri', 'post_logout_redirect_uri'] as const).map((parameter): Row => [
    `a ${parameter} ${name}`,
    '400 invalid_request',
    async (world) => {
      const { one } = world
      const cookie = await signedInAt(world, one)
      const target = of(new URL(one.logoutUri), world)
      return {
        send: () => leave(one, { client_id: one.pool.clientId, [parameter]: target }, cookie),
      }
    },
  ]),
)

const leave = (party: RelyingParty, query: Readonly<Record<string, string>>, cookie: string) =>
  party.get(`/logout?${new URLSearchParams(query).toString()}`, cookie)

export const SESSION_ROWS: readonly Row[] = [
  ['a session of the other pool', '303 login_required', ofTheOtherPool],
  [
    'a session of another site',
    '303 login_required',
    bringing((world) => signedInAt(world, world.two)),
  ],
  ['a session that has ended', '303 login_required', bringing(ended)],
  ['a session that is too old', '303 login_required', bringing(tooOld)],
  ['a session of a user who is gone', '303 login_required', bringing(ofNobody)],
  [
    'an unknown session',
    '303 login_required',
    bringing(() => Promise.resolve(`croft_session=${'x'.repeat(43)}`)),
  ],
  ['a session beside another one', '303 login_required', bringing(twoSessions)],
  ['a session planted before the sign-in', '303 login_required', bringing(planted)],
  ['a session before a new proof', '303 login_required', bringing(former)],
  ...logoutRows,
  ['a logout that only its client asks for', '200 ', withoutHint],
  ['a logout to two addresses', '400 invalid_request', toTwoAddresses],
  ['a logout to an unregistered address', '400 invalid_request', forNobody],
  ['a logout of a client of another site', '400 invalid_request', ofAnotherClient],
  ['a logout with a token of another site', '400 invalid_request', withForeignHint],
]

async function ofTheOtherPool(world: World): Promise<Attack> {
  const { admin, one } = world
  const { sub } = await world.user(admin)
  const { cookie } = await admin.signIn(sub)
  return { send: () => one.authorize(SILENT, cookie) }
}

async function ended(world: World): Promise<string> {
  const { token, cookie } = await world.one.signIn(await world.one.user(world.email()))
  await world.signOut(world.one, token)
  return cookie
}

async function tooOld(world: World): Promise<string> {
  const sub = await world.one.user(world.email())
  const { cookie } = await world.one.signIn(sub)
  await world.expire('sign_in_session', 'sub', sub)
  return cookie
}

async function ofNobody(world: World): Promise<string> {
  const email = world.email()
  const { cookie } = await world.one.signIn(await world.one.user(email))
  await world.stack.inSite('one.test', (tx) =>
    tx.db.deleteFrom('pool_user').where('email', '=', email).execute(),
  )
  return cookie
}

/** One of the two comes from a neighbouring domain, and there is no telling which. */
async function twoSessions(world: World): Promise<string> {
  return `${await signedInAt(world, world.one)}; ${await signedInAt(world, world.one)}`
}

/** What an attacker put into a browser before its owner signed in. */
async function planted(world: World): Promise<string> {
  const { email } = await world.user()
  const browser = world.browser()
  browser.cookies.set('croft_session', 'x'.repeat(43))
  const page = await browser.get(world.one.page('login'))
  await browser.submit(page, { username: email, password: PASSWORD })
  return `croft_session=${'x'.repeat(43)}`
}

async function former(world: World): Promise<string> {
  const sub = await world.one.user(world.email())
  const first = await world.one.signIn(sub)
  await world.one.signIn(sub, { replaces: first.token })
  return first.cookie
}

/** A page asks the user first. */
async function withoutHint(world: World): Promise<Attack> {
  const { one } = world
  const cookie = await signedInAt(world, one)
  const query = { client_id: one.pool.clientId, post_logout_redirect_uri: one.logoutUri }
  return { send: () => leave(one, query, cookie) }
}

async function toTwoAddresses(world: World): Promise<Attack> {
  const { one } = world
  const cookie = await signedInAt(world, one)
  const { logoutUri } = one
  const query = { client_id: one.pool.clientId, logout_uri: logoutUri }
  const twice = { ...query, post_logout_redirect_uri: logoutUri }
  return { send: () => leave(one, twice, cookie) }
}

async function forNobody(world: World): Promise<Attack> {
  const cookie = await signedInAt(world, world.one)
  return { send: () => leave(world.one, { logout_uri: world.one.logoutUri }, cookie) }
}

async function ofAnotherClient(world: World): Promise<Attack> {
  const { one, two } = world
  const cookie = await signedInAt(world, one)
  return { send: () => leave(one, { client_id: two.pool.clientId }, cookie) }
}

async function withForeignHint(world: World): Promise<Attack> {
  const { one, two } = world
  const cookie = await signedInAt(world, one)
  const { id_token: hint = '' } = await two.tokens(world.email())
  return { send: () => leave(one, { id_token_hint: hint }, cookie) }
}
