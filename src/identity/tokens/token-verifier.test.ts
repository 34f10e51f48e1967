import { createHmac, createPublicKey } from 'node:crypto'

import fc from 'fast-check'
import { SignJWT, base64url } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'
import { type NewKeyPair, newKeyPair } from '#identity/keys/key-pair.ts'
import { importSigningKey, importVerificationKey } from '#identity/keys/model.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import { type Client, PUBLIC } from '#identity/pools/client.ts'
import type { Pool, SitePools } from '#identity/pools/model.ts'
import { storedPoolSettings } from '#identity/pools/settings.ts'

import { newTokenClaims } from './claims.ts'
import { TokenVerifier } from './token-verifier.ts'

const NOW = 1_800_000_000
const NAMES = { domain: 'one.test', adminDomain: null, authDomain: null, formerAuthDomains: [] }
const SITE = { siteId: 'site_1', ...NAMES, region: 'eu-central-1' }
const SUBJECT = {
  sub: 'sub-1',
  username: 'ann',
  email: 'ann@one.test',
  emailVerified: true,
  groups: ['editors'],
}

/** A client for linking, and an application beside the site's own. */
const othersThan = (client: Client): readonly Client[] => [
  { ...client, clientId: 'link', purpose: 'link' },
  {
    ...client,
    clientId: 'application',
    purpose: 'registered',
    application: {
      name: 'Other',
      privacyUri: undefined,
      logoVersion: undefined,
      isThirdParty: true,
    },
  },
]

interface Made {
  readonly pool: Pool
  readonly pair: NewKeyPair
  readonly signingKey: CryptoKey
}
let admin: Made
let data: Made
let verifier: TokenVerifier

async function poolOf(kind: PoolKind): Promise<Made> {
  const pair = await newKeyPair()
  const { kid, publicJwk } = pair
  const key = await importVerificationKey(publicJwk)
  const verification = { kid, publicJwk, key, signs: true, expiresAtMs: Infinity }
  const userPoolId = `eu-central-1_${kind}00000`
  const client: Client = {
    clientId: kind.padEnd(26, '0'),
    purpose: 'default',
    redirectUris: [],
    logoutUris: [],
    cognitoApi: false,
    accessTokenFormat: 'cognito',
    proofs: PUBLIC,
    application: undefined,
  }
  const pool: Pool = {
    kind,
    userPoolId,
    clientId: client.clientId,
    issuer: `https://one.test/oidc/${userPoolId}`,
    issuers: [`https://one.test/oidc/${userPoolId}`],
    apiOrigin: 'https://one.test',
    passkeyOrigins: ['https://one.test'],
    relyingPartyId: 'one.test',
    settings: storedPoolSettings(kind, {}),
    clients: new Map([client, ...othersThan(client)].map((each) => [each.clientId, each])),
    google: undefined,
    keys: new Map([[kid, verification]]),
    signingKid: kid,
    version: kind,
  }
  return { pool, pair, signingKey: await importSigningKey(pair.privateKey) }
}

beforeAll(async () => {
  ;[admin, data] = await Promise.all([poolOf('admin'), poolOf('data')])
  const pools: SitePools = {
    names: NAMES,
    elsewhere: new Map(),
    loadedAtMs: 0,
    admin: admin.pool,
    data: data.pool,
  }
  verifier = new TokenVerifier({
    directory: { get: async () => pools, reload: async (_site, kind) => pools[kind] },
    clock: { now: () => new Date(NOW * 1000) },
  })
})

const good = () =>
  newTokenClaims(data.pool, 'access', SUBJECT, {
    issuedAtSeconds: NOW - 60,
    authTimeSeconds: NOW - 60,
    jti: 'jti-1',
  })

const sign = (claims: object, header: object = {}, made = data): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: made.pair.kid, typ: 'JWT', ...header })
    .sign(made.signingKey)

const verify = (token: string, kind: PoolKind = 'data') =>
  verifier.verify(SITE, kind, token, {
    uses: kind === 'data' ? ['access'] : ['access', 'id'],
    clients: 'own',
  })

const reasonOf = (token: string, kind?: PoolKind) =>
  verify(token, kind).then(
    () => 'accepted',
    (error: unknown) =>
      error instanceof AppError && error.code === 'Unauthorized' && error.cause instanceof Error
        ? error.cause.message
        : error,
  )

const json = (value: unknown) => base64url.encode(JSON.stringify(value))

describe('a token', () => {
  test('that we made verifies', async () => {
    const { claims, expired } = await verify(await sign(good()))
    expect(claims).toEqual(good())
    expect(expired).toBe(false)
  })

  test.each([
    [NOW + 1, false],
    [NOW, true],
    [NOW - 1, true],
  ])('with exp %s is expired: %s', async (exp, expired) => {
    expect(await verify(await sign({ ...good(), exp }))).toMatchObject({ expired })
  })

  test.each([
    ['iss', { iss: 'https://two.test/oidc/eu-central-1_data00000' }],
    ['iss', { iss: 'https://one.test/oidc/eu-central-1_data00000/' }],
    ['token_use', { token_use: 'id', aud: 'data'.padEnd(26, '0'), client_id: undefined }],
    ['client', { client_id: 'x'.repeat(26) }],
    ['client', { client_id: undefined }],
    ['typ', { aud: 'data'.padEnd(26, '0') }],
    ['typ', { aud: 'https://one.test' }],
    ['nbf', { nbf: NOW + 1 }],
    ['iat', { iat: NOW + 61 }],
    ['claims', { exp: undefined }],
    ['claims', { exp: String(NOW + 100) }],
    ['claims', { exp: 1e300 }],
    ['claims', { iat: undefined }],
    ['claims', { sub: undefined }],
    ['claims', { sub: '' }],
    ['claims', { sub: 7 }],
    ['claims', { jti: undefined }],
    ['claims', { token_use: undefined }],
    ['claims', { token_use: 'refresh' }],
    ['claims', { aud: ['a', 'b'] }],
    ['claims', { 'cognito:groups': 'admin' }],
    ['claims', { nbf: 'soon' }],
  ])('is refused for its %s when it says %j', async (reason, change) => {
    expect(await reasonOf(await sign({ ...good(), ...change }))).toBe(`Token refused: ${reason}`)
  })

  test.each([
    ['header', { jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } }],
    ['header', { jku: 'https://evil.test/jwks.json' }],
    ['header', { x5c: ['MIIB'] }],
    ['header', { x5u: 'https://evil.test/cert' }],
    ['header', { cty: 'JWT' }],
    ['typ', { typ: undefined }],
    ['typ', { typ: 'at+jwt' }],
    ['kid', { kid: undefined }],
    ['kid', { kid: 'unknown' }],
    ['kid', { kid: '__proto__' }],
    ['kid', { kid: ['a'] }],
  ])('is refused for its %s when we signed the header %j', async (reason, header) => {
    expect(await reasonOf(await sign(good(), header))).toBe(`Token refused: ${reason}`)
  })

  test('of RFC 9068 verifies for this site, and for no other', async () => {
    const typ = { typ: 'at+jwt' }
    const here = { ...good(), aud: 'https://one.test' }
    expect((await verify(await sign(here, typ))).claims).toEqual(here)
    const elsewhere = [
      'https://two.test',
      'http://one.test',
      'https://one.test/',
      data.pool.clientId,
    ]
    for (const aud of elsewhere) {
      expect(await reasonOf(await sign({ ...good(), aud }, typ))).toBe('Token refused: client')
    }
  })

  test('for id is none for access, under whichever type', async () => {
    const id = newTokenClaims(data.pool, 'id', SUBJECT, {
      issuedAtSeconds: NOW - 60,
      authTimeSeconds: NOW - 60,
      jti: 'jti-1',
    })
    expect(await reasonOf(await sign(id))).toBe('Token refused: token_use')
    expect(await reasonOf(await sign(id, { typ: 'at+jwt' }))).toBe('Token refused: typ')
    const renamed = { ...id, token_use: 'access', client_id: data.pool.clientId }
    expect(await reasonOf(await sign(renamed, { typ: 'at+jwt' }))).toBe('Token refused: client')
  })

  test('of the other pool is refused, also under the kid of this one', async () => {
    const other = { ...good(), iss: admin.pool.issuer, client_id: admin.pool.clientId }
    expect(await reasonOf(await sign(other, {}, admin))).toBe('Token refused: kid')
    expect(await reasonOf(await sign(good(), { kid: data.pair.kid }, admin))).toBe(
      'Token refused: ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    )
    expect(await reasonOf(await sign(good()), 'admin')).toBe('Token refused: kid')
  })

  test.each(['none', 'None', 'HS256', 'RS384', 'PS256', 'ES256', 'EdDSA', ''])(
    'with alg %j is refused',
    async (alg) => {
      const [, payload, signature] = (await sign(good())).split('.')
      const header = json({ alg, kid: data.pair.kid, typ: 'JWT' })
      for (const end of [signature, 'AA']) {
        expect(await reasonOf(`${header}.${payload}.${end}`)).toMatch(/^Token refused: ERR_J/)
      }
    },
  )

  test('signed with HS256 and the public key as its secret is refused, in every spelling of the key', async () => {
    const publicKey = createPublicKey({ key: { ...data.pair.publicJwk }, format: 'jwk' })
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'pem', type: 'pkcs1' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(data.pair.publicJwk),
      data.pair.publicJwk.n,
    ]
    for (const alg of ['HS256', 'RS256']) {
      const signed = `${json({ alg, kid: data.pair.kid, typ: 'JWT' })}.${json(good())}`
      for (const secret of secrets) {
        const mac = createHmac('sha256', secret).update(signed).digest('base64url')
        expect(await reasonOf(`${signed}.${mac}`)).toMatch(/^Token refused: ERR_J/)
      }
    }
  })

  test('whose signature is spelled another way is refused', async () => {
    const token = await sign(good())
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(token.slice(-1))
    for (let unused = 1; unused < 16; unused++) {
      const twin = token.slice(0, -1) + alphabet.charAt(last + unused)
      expect(Buffer.from(twin.split('.')[2] ?? '', 'base64url')).toEqual(
        Buffer.from(token.split('.')[2] ?? '', 'base64url'),
      )
      expect(await reasonOf(twin)).toBe('Token refused: signature')
    }
  })

  test('never verifies after any one character of it changed, came or went', async () => {
    const token = await sign(good())
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ '.split(
      '',
    )
    const edit = fc.tuple(
      fc.nat(token.length - 1),
      fc.constantFrom(...alphabet),
      fc.constantFrom('replace', 'insert', 'delete', 'swap', 'cut'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const mutant = edits.reduce((text, each) => edited(text, ...each), token)
        fc.pre(mutant !== token)
        expect(await reasonOf(mutant)).toMatch(/^Token refused: /)
      }),
      { numRuns: 500 },
    )
  })

  test('never verifies with another header or payload under the old signature', async () => {
    const [header = '', payload = '', signature = ''] = (await sign(good())).split('.')
    const claim = fc.constantFrom(...Object.keys(good()), 'nbf', 'aud', 'email', '__proto__')
    await fc.assert(
      fc.asyncProperty(claim, fc.jsonValue(), fc.boolean(), async (name, value, inHeader) => {
        const part = inHeader ? header : payload
        const before: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
        const after = json(Object.assign({}, before, { [name]: value }))
        fc.pre(after !== part)
        const mutant = inHeader ? [after, payload, signature] : [header, after, signature]
        expect(await reasonOf(mutant.join('.'))).toMatch(/^Token refused: /)
      }),
      { numRuns: 300 },
    )
  })

  test('never verifies when it is any text at all', async () => {
    const part = fc.oneof(fc.base64String(), fc.json().map(base64url.encode), fc.string())
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        expect(await reasonOf(parts.join('.'))).toMatch(/^Token refused: /)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a token that verified before', () => {
  /** As pools of the site are; the test changes them under the verifier. */
  const standing = (keys: Pool['keys']): SitePools => ({
    names: NAMES,
    elsewhere: new Map(),
    loadedAtMs: 0,
    admin: admin.pool,
    data: { ...data.pool, keys },
  })
  const under = (verification: object) =>
    new Map([...data.pool.keys].map(([kid, key]) => [kid, { ...key, ...verification }]))

  async function seen() {
    let pools = standing(data.pool.keys)
    let nowSeconds = NOW
    const changing = new TokenVerifier({
      directory: { get: async () => pools, reload: async (_site, kind) => pools[kind] },
      clock: { now: () => new Date(nowSeconds * 1000) },
    })
    const token = await sign({ ...good(), exp: NOW + 60 })
    const again = () => changing.verify(SITE, 'data', token, { uses: ['access'], clients: 'own' })
    const first = await again()
    return {
      first,
      again,
      keys: (next: Pool['keys']) => {
        pools = standing(next)
      },
      forwardSeconds: (seconds: number) => {
        nowSeconds += seconds
      },
      changing,
      token,
    }
  }

  test('is not computed again', async () => {
    const { first, again } = await seen()
    expect((await again()).claims).toBe(first.claims)
  })

  test('is refused once its key has gone', async () => {
    const { again, keys } = await seen()
    keys(new Map())
    await expect(again()).rejects.toMatchObject({ code: 'Unauthorized' })
  })

  test('is refused once its key is published no more', async () => {
    const { again, keys } = await seen()
    keys(under({ expiresAtMs: NOW * 1000 }))
    await expect(again()).rejects.toMatchObject({ code: 'Unauthorized' })
  })

  test('is refused when another key took the name of its own', async () => {
    const { again, keys } = await seen()
    keys(under({ key: [...admin.pool.keys.values()][0]?.key }))
    await expect(again()).rejects.toMatchObject({ code: 'Unauthorized' })
  })

  test('is computed again when its key was read again', async () => {
    const { first, again, keys } = await seen()
    keys(under({ key: await importVerificationKey(data.pair.publicJwk) }))
    const { claims } = await again()
    expect(claims).not.toBe(first.claims)
    expect(claims).toEqual(first.claims)
  })

  test('is refused for another pool and for another use', async () => {
    const { changing, token } = await seen()
    for (const [kind, use] of [
      ['admin', 'access'],
      ['data', 'id'],
    ] as const) {
      await expect(
        changing.verify(SITE, kind, token, { uses: [use], clients: 'own' }),
      ).rejects.toMatchObject({
        code: 'Unauthorized',
      })
    }
  })

  test('expires', async () => {
    const { again, forwardSeconds } = await seen()
    forwardSeconds(60)
    expect(await again()).toMatchObject({ expired: true })
  })
})

function edited(text: string, at: number, character: string, how: string): string {
  const [before, after] = [text.slice(0, at), text.slice(at + 1)]
  switch (how) {
    case 'insert':
      return before + character + text.slice(at)
    case 'delete':
      return before + after
    case 'swap':
      return before + after.slice(0, 1) + text.slice(at, at + 1) + after.slice(1)
    case 'cut':
      return before
    default:
      return before + character + after
  }
}

test.each([
  ['link', 'own', 'Token refused: client'],
  ['link', 'any', 'Token refused: client'],
  ['application', 'own', 'Token refused: client'],
  ['application', 'any', 'accepted'],
  ['nobody', 'any', 'Token refused: client'],
] as const)(
  'a token of the client "%s", taken of %s clients, is %s',
  async (clientId, clients, expected) => {
    const token = await sign({ ...good(), client_id: clientId })
    const outcome = await verifier.verify(SITE, 'data', token, { uses: ['access'], clients }).then(
      () => 'accepted',
      (error: unknown) =>
        error instanceof AppError && error.cause instanceof Error ? error.cause.message : error,
    )
    expect(outcome).toBe(expected)
  },
)
