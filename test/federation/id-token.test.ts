import { createHmac, generateKeyPairSync } from 'node:crypto'

import { exportJWK } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import {
  type CrookedProvider,
  type Crookedness,
  compact,
  signed,
  startCrookedProvider,
} from '#test/crooked-provider.ts'
import {
  accountOf,
  answerOf,
  googleClientOf,
  lastEvent,
  setUpGoogle,
  walkToGoogle,
} from '#test/google-sign-in.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'
const { clientId } = googleClientOf(HOST)
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

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

const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset
const claims = (change: object): Crookedness => ({
  idToken: (honest) => signed({ ...honest, claims: { ...honest.claims, ...change } }),
})

describe('a provider that is honest', () => {
  test('is believed, whichever of the usual ways it goes', async () => {
    await crooked({})
    const { email } = await accountOf(stack, await walkToGoogle(stack, HOST))
    expect(email).toBe(provider.person['email'])
    for (const ways of [
      claims({ aud: [clientId] }),
      claims({ aud: [clientId, 'other'], azp: clientId }),
      claims({ iat: seconds(30), nbf: seconds(30) }),
    ]) {
      provider.crooked = ways
      expect(await accountOf(stack, await walkToGoogle(stack, HOST))).toMatchObject({ email })
    }
  })

  test('may sign with ES256', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await crooked({
      keys: (keys) => ({ keys: [...keys, { ...publicKey.export({ format: 'jwk' }), kid: 'ec' }] }),
      idToken: (honest) =>
        signed({ ...honest, header: { alg: 'ES256', kid: 'ec', typ: 'JWT' }, key: privateKey }),
    })
    expect(await accountOf(stack, await walkToGoogle(stack, HOST))).toHaveProperty('sub')
  })

  test('may rotate its keys, and is asked for them again, though not for every token', async () => {
    const late = { ms: 0 }
    await using own = await startStack({
      sites: [HOST],
      platform: { clock: { now: () => new Date(Date.now() + late.ms) } },
    })
    await crooked({})
    await setUpGoogle(own, HOST, provider.issuer)
    const through = async () => answerOf(await walkToGoogle(own, HOST))
    expect(await through()).toHaveProperty('code')
    expect(provider.hits.get('/jwks')).toBe(1)
    provider.rotateKey()
    expect(await through()).toHaveProperty('error', 'server_error')
    expect(provider.hits.get('/jwks')).toBe(1)
    late.ms = 15_000
    expect(await through()).toHaveProperty('code')
    expect(await through()).toHaveProperty('code')
    expect(provider.hits.get('/jwks')).toBe(2)
    expect(provider.hits.get('/.well-known/openid-configuration')).toBe(1)
  })
})

describe('an id token', () => {
  test.each<[string, Crookedness, RegExp]>([
    ['for another client', claims({ aud: 'other' }), /aud/],
    ['for others beside us', claims({ aud: [clientId, 'other'] }), /another client/],
    ['with the azp of another', claims({ aud: [clientId], azp: 'other' }), /another client/],
    ['for no audience', claims({ aud: undefined }), /aud/],
    ['of another issuer', claims({ iss: 'https://accounts.google.com' }), /iss/],
    ['without an issuer', claims({ iss: undefined }), /iss/],
    ['that has expired', claims({ exp: seconds(-120) }), /exp/],
    ['that never expires', claims({ exp: undefined }), /exp/],
    ['of long ago', claims({ iat: seconds(-3600) }), /iat/],
    ['of the future', claims({ iat: seconds(3600) }), /iat/],
    ['that does not count yet', claims({ nbf: seconds(3600) }), /nbf/],
    ['of another visit', claims({ nonce: 'other' }), /another visit/],
    ['without a nonce', claims({ nonce: undefined }), /nonce/],
    ['about no subject', claims({ sub: undefined }), /sub/],
    ['about an empty subject', claims({ sub: '' }), /claims/],
    ['about an endless subject', claims({ sub: 'x'.repeat(256) }), /claims/],
    ['about a subject that is no text', claims({ sub: 1 }), /claims/],
    [
      'with alg none',
      { idToken: ({ claims: all }) => compact({ alg: 'none', typ: 'JWT' }, all) },
      /alg|signature|JWS/i,
    ],
    [
      'signed with our own secret (HS256)',
      {
        idToken: ({ claims: all }) => {
          const text = compact({ alg: 'HS256', typ: 'JWT' }, all).slice(0, -1)
          const secret = googleClientOf(HOST).clientSecret
          return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
        },
      },
      /alg/i,
    ],
    [
      'signed with a key that is not published',
      { idToken: (honest) => signed({ ...honest, key: rsa().privateKey }) },
      /signature/,
    ],
    [
      'that names a key that is not published',
      { idToken: (honest) => signed({ ...honest, header: { ...honest.header, kid: 'none' } }) },
      /no applicable key|key/i,
    ],
    [
      'that brings its own key along',
      {
        idToken: async (honest) => {
          const { privateKey, publicKey } = rsa()
          const header = { ...honest.header, kid: 'mine', jwk: await exportJWK(publicKey) }
          return signed({ ...honest, header, key: privateKey })
        },
      },
      /key/i,
    ],
    [
      'with an unknown critical header',
      {
        idToken: (honest) =>
          compact({ ...honest.header, crit: ['x'], x: 1 }, honest.claims, 'AAAA'),
      },
      /x|crit|signature/i,
    ],
    ['that is no token', { idToken: () => 'not.a.token' }, /not valid/],
    [
      'that is none at all',
      { tokenAnswer: ({ access_token }) => ({ access_token }) },
      /no id token/,
    ],
    ['that is endless', { idToken: () => `a.${'b'.repeat(40_000)}.c` }, /no id token/],
  ])('%s is not believed', async (_what, crookedness, reason) => {
    await crooked(crookedness)
    expect(await outcome()).toEqual(refused('server_error', reason))
  })

  test('whose key is too short is not believed', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    await crooked({
      keys: () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'short' }] }),
      idToken: (honest) =>
        compact({ ...honest.header, kid: 'short' }, honest.claims, privateKey.type),
    })
    expect(await outcome()).toEqual(refused('server_error', /key/))
  })

  test('of an old sign-in is not enough for a client that wants a new one', async () => {
    await crooked(claims({ auth_time: seconds(-3600) }))
    const changes = { max_age: '300' }
    const walk = await walkToGoogle(stack, HOST, new WalkingBrowser(), changes)
    expect(answerOf(walk)).toMatchObject({ error: 'login_required' })
    expect(answerOf(await walkToGoogle(stack, HOST))).toHaveProperty('code')
  })
})
