import http, { Agent } from 'node:http'
import net from 'node:net'

import {
  type CustomFetchOptions,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  customFetch,
  discovery,
  fetchUserInfo,
} from 'openid-client'
import { Strategy } from 'passport-openidconnect'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RegisteredParty } from '#test/registered-client.ts'
import { signedInBrowser } from '#test/signed-in-browser.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const APP = 'https://app.example'
/** Its visitors sign in on a name of its own from the start. */
const OWN = 'own.test'
/** There they sign in on another name once a program is in use. */
const MOVING = 'moving.test'

/** As much of Auth.js as is used here. Its own types bring those of browsers, which are other ones than Bun's. */
interface AuthJs {
  readonly Auth: (request: Request, config: object) => Promise<Response>
  readonly customFetch: symbol
}
const AUTH_JS: string = '@auth/core'

let stack: Stack
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  stack = cleanUp.use(await startStack({ sites: ['one.test', 'two.test', MOVING] }))
  await stack.portal('POST', '/sites', { domain: OWN, authDomain: `auth.${OWN}` })
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  const usual = http.globalAgent
  // Every name is this service, as DNS would have it.
  http.globalAgent = new (class extends Agent {
    override createConnection() {
      return net.connect(stack.port, '127.0.0.1')
    }
  })()
  cleanUp.defer(() => {
    http.globalAgent = usual
  })
})
afterAll(() => cleanUp.disposeAsync())

/** The name in the URL goes into the Host header. */
async function fetchByHost(input: string | Request, init?: RequestInit): Promise<Response> {
  const { url, method, headers, body } = input instanceof Request ? input : new Request(input, init)
  const { hostname, pathname, search } = new URL(url)
  const answer = await stack.call(hostname, method, pathname + search, {
    headers: Object.fromEntries(headers),
    ...(body && { body: await new Response(body).text() }),
  })
  const bytes = answer.bytes.length > 0 ? new Uint8Array(answer.bytes) : null
  return new Response(bytes, {
    status: answer.status,
    headers: new Headers(
      Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
    ),
  })
}

/** The response to the library's request in the browser of a user who is signed in. */
async function callbackOf({ party }: RegisteredParty, authorizeUrl: string | URL): Promise<URL> {
  const { origin, pathname, href } = new URL(authorizeUrl)
  expect(origin + pathname).toBe(`${party.pool.issuer}/oauth2/authorize`)
  const browser = await signedInBrowser(party, 'vic@example.org')
  const { url } = await browser.open(href, (at) => at.origin === APP)
  expect(url.origin, url.href).toBe(APP)
  expect(url.searchParams.get('error_description')).toBeNull()
  expect(url.searchParams.get('iss')).toBe(party.pool.issuer)
  return url
}

let names = 0

/** Again with what it knew before, after the sign-in has moved, where it does. */
async function throughMove(host: string, signIn: () => Promise<void>): Promise<void> {
  await signIn()
  if (host !== MOVING) return
  const authDomain = `auth${++names}.${MOVING}`
  expect((await stack.portal('PATCH', `/sites/${MOVING}`, { authDomain })).status).toBe(200)
  await signIn()
}

describe.each(['one.test', 'two.test', OWN, MOVING])('with its defaults, at %s,', (host) => {
  test('passport-openidconnect signs in', async () => {
    const callbackURL = `${APP}/passport/callback`
    const app = await RegisteredParty.register(stack, host, { redirectUris: [callbackURL] })
    const { issuer } = app.party.pool
    const strategy = new Strategy(
      {
        issuer,
        authorizationURL: `${issuer}/oauth2/authorize`,
        tokenURL: `${issuer}/oauth2/token`,
        userInfoURL: `${issuer}/oauth2/userInfo`,
        clientID: app.clientId,
        clientSecret: app.client.clientSecret ?? '',
        callbackURL,
        scope: ['email', 'profile'],
      },
      (from: string, profile: object, done: (error: unknown, user: object) => void) =>
        done(null, { ...profile, from }),
    )
    await throughMove(host, async () => {
      const session = {}
      const authorizeUrl = await authenticated(strategy, { session, query: {} })
      const callback = await callbackOf(app, authorizeUrl as string)
      const query = Object.fromEntries(callback.searchParams)
      expect(await authenticated(strategy, { session, query })).toMatchObject({
        from: issuer,
        emails: [{ value: 'vic@example.org' }],
      })
    })
  })

  test('Auth.js signs in', async () => {
    const redirectUris = [`${APP}/auth/callback/croft`]
    const app = await RegisteredParty.register(stack, host, { redirectUris })
    const { Auth, customFetch: authFetch }: AuthJs = await import(AUTH_JS)
    const config = {
      trustHost: true,
      basePath: '/auth',
      secret: 'a secret of the application',
      providers: [
        {
          id: 'croft',
          name: 'Croft',
          type: 'oidc',
          issuer: app.party.pool.issuer,
          clientId: app.clientId,
          clientSecret: app.client.clientSecret ?? '',
          [authFetch]: fetchByHost,
        },
      ],
    }
    const jar = new Map<string, string>()
    const ask = async (path: string, form?: Readonly<Record<string, string>>) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await Auth(
        new Request(`${APP}/auth${path}`, {
          headers: { cookie, ...(form && { 'x-auth-return-redirect': '1' }) },
          ...(form && { method: 'POST', body: new URLSearchParams(form) }),
        }),
        config,
      )
      for (const line of answer.headers.getSetCookie()) {
        const [pair = ''] = line.split(';')
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
      }
      return answer
    }
    await throughMove(host, async () => {
      jar.clear()
      const { csrfToken } = (await (await ask('/csrf')).json()) as { csrfToken: string }
      const started = await ask('/signin/croft', { csrfToken, callbackUrl: APP })
      const { url } = (await started.json()) as { url: string }
      const callback = await callbackOf(app, url)
      const done = await ask(`/callback/croft${callback.search}`)
      expect(done.headers.get('location')).toBe(APP)
      expect(await (await ask('/session')).json()).toMatchObject({
        user: { email: 'vic@example.org' },
      })
    })
  })

  test('openid-client signs in', async () => {
    const redirectUri = `${APP}/callback`
    const app = await RegisteredParty.register(stack, host, { redirectUris: [redirectUri] })
    const { clientSecret } = app.client
    const config = await discovery(
      new URL(app.party.pool.issuer),
      app.clientId,
      clientSecret ?? '',
      undefined,
      {
        execute: [allowInsecureRequests],
        [customFetch]: async (url: string, { body, ...options }: CustomFetchOptions) =>
          fetchByHost(url, { ...options, ...(body && { body: await new Response(body).text() }) }),
      },
    )
    await throughMove(host, async () => {
      const parameters = { redirect_uri: redirectUri, scope: 'openid email', state: 'st-1' }
      const callback = await callbackOf(app, buildAuthorizationUrl(config, parameters))
      const tokens = await authorizationCodeGrant(config, callback, { expectedState: 'st-1' })
      const sub = tokens.claims()?.sub ?? ''
      expect(await fetchUserInfo(config, tokens.access_token, sub)).toMatchObject({
        email: 'vic@example.org',
      })
    })
  })
})

/** What Passport makes of one request: the address that the browser goes to, or the user. */
const authenticated = (strategy: Strategy, request: object): Promise<string | object> =>
  new Promise((resolve, reject) => {
    const refuse = (reason: unknown) =>
      reject(reason instanceof Error ? reason : new Error(JSON.stringify(reason)))
    const run: object = Object.assign(Object.create(strategy), {
      redirect: resolve,
      success: resolve,
      fail: refuse,
      error: refuse,
    })
    strategy.authenticate.call(run as Strategy, request, {})
  })
