import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import {
  type CrookedProvider,
  type Crookedness,
  startCrookedProvider,
} from '#test/crooked-provider.ts'
import {
  answerOf,
  googleClientOf,
  lastEvent,
  setUpGoogle,
  walkToCallback,
  walkToGoogle,
} from '#test/google-sign-in.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'
const { clientId } = googleClientOf(HOST)

let stack: Stack
let provider: CrookedProvider
beforeAll(async () => {
  stack = await startStack({ sites: [HOST] })
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A provider of its own for each test: what a site has learned of one lives on for a while. */
async function crooked(crookedness: Crookedness): Promise<void> {
  provider = await startCrookedProvider(clientId)
  provider.crooked = crookedness
  await setUpGoogle(stack, HOST, provider.issuer)
}
afterEach(() => provider[Symbol.asyncDispose]())

/** What the client gets, what the operator finds out, and whether the browser is signed in. */
async function outcome() {
  const browser = new WalkingBrowser()
  const walk = await walkToGoogle(stack, HOST, browser)
  const { error, state, iss } = answerOf(walk)
  const event = await lastEvent(stack, 'provider.refused')
  return {
    error,
    returned: state === walk.client.state && iss === walk.client.issuer,
    reason: event?.detail['reason'],
    signedIn: browser.cookie('croft_session') !== undefined,
    tellsSecret: JSON.stringify(event).includes(googleClientOf(HOST).clientSecret),
  }
}

const refused = (error: string, reason: RegExp) => ({
  error,
  returned: true,
  reason: expect.stringMatching(reason),
  signedIn: false,
  tellsSecret: false,
})

describe('a discovery document', () => {
  const metadata = (change: object): Crookedness => ({
    metadata: (document) => ({ ...document, ...change }),
  })

  test.each<[string, Crookedness]>([
    ['that speaks for another issuer', metadata({ issuer: 'https://accounts.google.com' })],
    [
      'that names another token endpoint without https',
      metadata({ token_endpoint: 'http://x.test/t' }),
    ],
    ['that names keys in a file', metadata({ jwks_uri: 'file:///etc/passwd' })],
    [
      'that sends browsers to a script',
      metadata({ authorization_endpoint: 'javascript:alert(1)' }),
    ],
    ['that names no token endpoint', metadata({ token_endpoint: undefined })],
    ['that is a list', { metadata: () => [] }],
    ['that is no JSON', { metadata: () => '<html>' }],
  ])('%s is not believed', async (_what, crookedness) => {
    await crooked(crookedness)
    expect(await outcome()).toEqual(refused('server_error', /untrusted/))
  })

  test('cannot make us look into our own network', async () => {
    await crooked(
      metadata({ token_endpoint: 'https://169.254.169.254/latest', jwks_uri: 'https://10.0.0.1/' }),
    )
    expect(await outcome()).toEqual(
      refused('temporarily_unavailable', /169\.254.* does not answer/),
    )
  })
})

describe('a provider that', () => {
  const endless = 'x'.repeat(300_000)
  test.each<[string, Crookedness, string]>([
    [
      'answers discovery with an error',
      { respond: { '/.well-known/openid-configuration': (r) => r.writeHead(500).end() } },
      'temporarily_unavailable',
    ],
    [
      'answers discovery with far too much',
      { metadata: (all) => ({ ...all, endless }) },
      'temporarily_unavailable',
    ],
    [
      'redirects its discovery',
      {
        respond: {
          '/.well-known/openid-configuration': (r) =>
            r.writeHead(302, { location: '/elsewhere' }).end(),
        },
      },
      'temporarily_unavailable',
    ],
    [
      'hangs up on the code',
      { respond: { '/token': (r) => r.destroy() } },
      'temporarily_unavailable',
    ],
    [
      'answers the code with far too much',
      { tokenAnswer: (all) => ({ ...all, endless }) },
      'temporarily_unavailable',
    ],
    [
      'answers the code with a page',
      { respond: { '/token': (r) => r.writeHead(502).end('<html>') } },
      'temporarily_unavailable',
    ],
    [
      'refuses the code',
      {
        respond: {
          '/token': (r) =>
            r
              .writeHead(400, { 'content-type': 'application/json' })
              .end('{"error":"invalid_grant"}'),
        },
      },
      'server_error',
    ],
    [
      'publishes far too many keys',
      { keys: ([key]) => ({ keys: Array.from({ length: 51 }, () => key) }) },
      'server_error',
    ],
    ['publishes keys that are none', { keys: () => ({ keys: 'none' }) }, 'server_error'],
    [
      'publishes its keys at no time',
      { respond: { '/jwks': (r) => r.writeHead(503).end() } },
      'temporarily_unavailable',
    ],
  ])(
    '%s ends the sign-in with an error that says whose fault it is',
    async (_what, crookedness, error) => {
      await crooked(crookedness)
      expect(await outcome()).toEqual(refused(error, /\w/))
    },
  )

  test('does not answer is waited for a few seconds, not more', async () => {
    await crooked({ respond: { '/token': () => {} } })
    const started = performance.now()
    expect(await outcome()).toEqual(refused('temporarily_unavailable', /does not answer/))
    expect(performance.now() - started).toBeLessThan(9_000)
  })

  test('drips its answer is waited for no longer', async () => {
    const drips: NodeJS.Timeout[] = []
    await crooked({
      respond: {
        '/token': (response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          drips.push(setInterval(() => response.write(' '), 100))
        },
      },
    })
    const started = performance.now()
    expect(await outcome()).toEqual(refused('temporarily_unavailable', /does not answer/))
    expect(performance.now() - started).toBeLessThan(9_000)
    for (const drip of drips) clearInterval(drip)
  })

  test('is down sends the browser back to the client, and serves again when it is up', async () => {
    await crooked({})
    const { issuer } = provider
    await provider[Symbol.asyncDispose]()
    expect(await outcome()).toEqual(refused('temporarily_unavailable', /does not answer/))
    await crooked({})
    expect(provider.issuer).not.toBe(issuer)
    expect(answerOf(await walkToGoogle(stack, HOST))).toHaveProperty('code')
  })

  test('goes down while the browser is there says so to the client', async () => {
    await crooked({})
    const browser = new WalkingBrowser()
    const { url, client } = await walkToCallback(stack, HOST, browser)
    await provider[Symbol.asyncDispose]()
    const walk = await browser.open(url.href)
    expect(answerOf(walk)).toMatchObject({
      error: 'temporarily_unavailable',
      state: client.state,
    })
    provider = await startCrookedProvider(clientId)
  })
})
