import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import {
  GatedPages,
  POOLS,
  type Visit,
  gateOf,
  isOpenToOpeners,
  nameOf,
} from '#test/gated-pages.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'

/** What a page lets in beside navigations and its own forms. A new entry is a decision: it belongs in review. */
const LETS_IN: Readonly<Record<string, string>> = {
  'GET /oidc/:userPoolId/oauth2/authorize': 'foreignForms popups silentFrames',
  'POST /oidc/:userPoolId/oauth2/authorize': 'foreignForms popups silentFrames',
  'GET /oidc/:userPoolId/oauth2/idpresponse': 'popups',
  'GET /oidc/:userPoolId/logout': 'foreignForms popups',
  'POST /oidc/:userPoolId/logout': 'foreignForms popups',
  'GET /oidc/:userPoolId/logout/former': 'popups',
  ...Object.fromEntries(
    ['login', 'signup', 'confirmUser', 'forgotPassword', 'confirmForgotPassword', 'mfa', 'passkey']
      .flatMap((page) => [`GET /oidc/:userPoolId/${page}`, `POST /oidc/:userPoolId/${page}`])
      .map((name) => [name, 'popups']),
  ),
}

/** Where pages are, and what is there beside them: no cookie counts for it. */
const PLACES = /^\/(?:oidc\/|admin\/public\/|admin\/(?:callback)?$)/
const NO_PAGE = [
  'GET /admin/public/config',
  'GET /admin/public/forwarding/verify',
  'GET /admin/public/logo/:version',
  'GET /oidc/:userPoolId/.well-known/jwks.json',
  'GET /oidc/:userPoolId/.well-known/openid-configuration',
  'GET /oidc/:userPoolId/clients/:clientId/logo',
  'GET /oidc/:userPoolId/oauth2/userInfo',
  'POST /admin/public/contact',
  'POST /admin/public/webhooks/deploy',
  'POST /oidc/:userPoolId',
  'POST /oidc/:userPoolId/oauth2/revoke',
  'POST /oidc/:userPoolId/oauth2/token',
  'POST /oidc/:userPoolId/oauth2/userInfo',
]

const metadata = (mode: string, destination: string, site = 'same-origin') => ({
  'sec-fetch-mode': mode,
  'sec-fetch-dest': destination,
  'sec-fetch-site': site,
})
const PAGE = metadata('navigate', 'document')
const NO_NAVIGATION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fetch: metadata('cors', 'empty'),
  'fetch of its own origin': metadata('same-origin', 'empty'),
  'fetch without CORS': metadata('no-cors', 'empty'),
  'fetch that says half of it': { 'sec-fetch-mode': 'cors' },
  image: metadata('no-cors', 'image'),
  'socket’s handshake': metadata('websocket', 'websocket'),
  frame: metadata('navigate', 'iframe'),
  'old frame': metadata('navigate', 'frame'),
  object: metadata('navigate', 'object'),
  embed: metadata('navigate', 'embed'),
  'service worker that passes a navigation on': metadata('navigate', 'empty'),
  'service worker’s preload': { ...PAGE, 'service-worker-navigation-preload': 'true' },
  'service worker’s preload with a word of its own': {
    ...PAGE,
    'service-worker-navigation-preload': 'x',
  },
  prefetch: { ...PAGE, 'sec-purpose': 'prefetch' },
  prerendering: { ...PAGE, 'sec-purpose': 'prefetch;prerender' },
}
const FOREIGN = ['cross-site', 'same-site', 'none'].map((site) =>
  metadata('navigate', 'document', site),
)
const NOT_A_PAGE = 'This page opens only by a link'
const FOREIGN_FORM = 'This form was sent from another site'
const REFUSED = new RegExp(`${NOT_A_PAGE}|${FOREIGN_FORM}`)

const OWN_NAMES = { adminDomain: `admin.${HOST}`, authDomain: `auth.${HOST}` }

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test', 'same-origin', {}],
  ['over plain HTTP', 'http://croft.test', undefined, {}],
  ['over TLS, on names of their own', 'https://croft.test', 'same-origin', OWN_NAMES],
  ['over plain HTTP, on names of their own', 'http://croft.test', undefined, OWN_NAMES],
] as const)('the gate of the pages %s', (_where, baseUrl, alone, names) => {
  let stack: Stack
  let pages: GatedPages
  beforeAll(async () => {
    stack = await startStack({ config: { baseUrl } })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    await stack.portal('PATCH', `/sites/${HOST}`, names)
    pages = await GatedPages.of(stack, HOST)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const visit = (each: Visit, headers: Readonly<Record<string, string>>) =>
    pages.visit(each, headers)

  test('comes before every route on which a cookie counts', () => {
    const { routes } = stack.app
    const there = routes.filter(({ path }) => PLACES.test(path))
    expect(
      there
        .filter((route) => !gateOf(route))
        .map(nameOf)
        .toSorted(),
    ).toEqual(NO_PAGE)
    expect(routes.filter(gateOf).filter(({ path }) => !PLACES.test(path))).toEqual([])
    expect(routes.filter(gateOf).length).toBeGreaterThan(40)
  })

  test('lets in what is listed here', () => {
    const told = pages.routes.map((route) => {
      const opened = Object.entries(gateOf(route) ?? {}).filter(([, isOpen]) => isOpen)
      return [
        nameOf(route),
        opened
          .map(([what]) => what)
          .toSorted()
          .join(' '),
      ]
    })
    expect(Object.fromEntries(told.filter(([, what]) => what !== ''))).toEqual(LETS_IN)
  })

  test('has no route beside it that answers a cookie otherwise than none', async () => {
    const beside = stack.app.routes.filter(
      (route) => !gateOf(route) && ['GET', 'POST'].includes(route.method) && route.path !== '/*',
    )
    expect(beside.length).toBeGreaterThan(100)
    const held: string[] = []
    for (const kind of POOLS) held.push(await pages.cookie(kind))
    const all = held.join('; ')
    for (const route of beside) {
      const path = route.path
        .replace(/\/$/, '')
        .replace(':userPoolId', pages.party('data').pool.userPoolId)
        .replaceAll(/:\w+/g, 'x')
      const answers = await Promise.all(
        [{}, { cookie: all }].map((headers) => stack.call(HOST, route.method, path, { headers })),
      )
      const [bare, known] = answers.map(({ status, headers }) => [status, headers['set-cookie']])
      expect(known, nameOf(route)).toEqual(bare)
      expect(known?.[1], nameOf(route)).toBeUndefined()
    }
  })

  test.each(Object.keys(NO_NAVIGATION))(
    'refuses a %s with a page that tells nothing',
    async (what) => {
      for (const each of pages.visits) {
        const answer = await visit(each, NO_NAVIGATION[what] ?? {})
        const where = `${each.name}: ${what}`
        expect(answer.status, where).toBe(403)
        expect(answer.headers['content-type'], where).toBe('text/html; charset=utf-8')
        expect(answer.headers['set-cookie'], where).toBeUndefined()
        expect(answer.headers['location'], where).toBeUndefined()
        expect(answer.text, where).toContain(NOT_A_PAGE)
        expect(answer.text, where).not.toMatch(/_csrf|challenge|vic@example|ann@one/)
      }
    },
  )

  test('refuses in the language of the reader', async () => {
    const [first] = pages.visits
    if (!first) throw new Error('There are no pages')
    const headers = { ...metadata('navigate', 'iframe'), 'accept-language': 'de' }
    const answer = await visit(first, headers)
    expect(answer.headers['content-language']).toBe('de')
    expect(answer.text).toContain('Diese Seite öffnet sich nur über einen Link')
  })

  test('lets navigations through, wherever their link is', async () => {
    for (const each of pages.visits.filter(({ route }) => route.method === 'GET')) {
      for (const headers of [PAGE, ...FOREIGN]) {
        const { text } = await visit(each, headers)
        expect(text, each.name).not.toMatch(REFUSED)
      }
    }
  })

  test('takes forms of its own origin, and of others where no cookie makes more of them', async () => {
    for (const each of pages.visits.filter(({ route }) => route.method === 'POST')) {
      const own = await visit(each, PAGE)
      expect(own.text, each.name).not.toMatch(REFUSED)
      const unsaid = [{ origin: 'https://evil.example' }, { origin: 'null' }]
      for (const headers of [...FOREIGN, ...unsaid]) {
        const { status, text } = await visit(each, headers)
        const isOpen = gateOf(each.route)?.['foreignForms'] === true
        const isRefused = status === 403 && text.includes(FOREIGN_FORM)
        expect(isRefused, `${each.name} ${JSON.stringify(headers)}`).toBe(!isOpen)
      }
    }
  })

  test('keeps every page from the window that opened it, except for those of a visitor’s sign-in', async () => {
    for (const each of pages.visits) {
      for (const headers of [PAGE, NO_NAVIGATION['fetch'] ?? {}]) {
        const { headers: sent } = await visit(each, headers)
        const policy = isOpenToOpeners(each) ? undefined : alone
        expect(sent['cross-origin-opener-policy'], each.name).toBe(policy)
      }
    }
  })

  test('keeps the page that confirms a sign-out from it', async () => {
    const signOuts = pages.visits.filter(({ name }) => /^GET .*\/logout /.test(name))
    expect(signOuts).toHaveLength(POOLS.length)
    for (const each of signOuts) {
      const { logoutUri, pool } = pages.party(each.kind)
      const unhinted = { client_id: pool.clientId, post_logout_redirect_uri: logoutUri }
      const url = each.url.replace(/\?.*/, `?${new URLSearchParams(unhinted).toString()}`)
      const { text, headers } = await visit({ ...each, url }, PAGE)
      expect(text).toContain('_csrf')
      expect(headers['cross-origin-opener-policy'], each.name).toBe(alone)
    }
  })

  test('keeps the sign-in that leads to the account’s page from it, too', async () => {
    const party = pages.party('data')
    const account = new URLSearchParams({
      client_id: 'account',
      redirect_uri: `${party.pool.issuer}/account`,
      response_type: 'code',
      scope: 'openid',
    }).toString()
    const signIn = pages.visits.filter(isOpenToOpeners)
    for (const each of signIn.filter(({ url }) => !/idpresponse|logout/.test(url))) {
      const url = each.url.replace(/\?.*/, `?${account}`)
      const { headers } = await visit({ ...each, url }, PAGE)
      expect(headers['cross-origin-opener-policy'], each.name).toBe(alone)
    }
  })
})
