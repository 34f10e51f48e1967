import { createHmac, createPublicKey, randomUUID } from 'node:crypto'

import { SignJWT, base64url, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { newTokenClaims } from '#identity/tokens/claims.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const HOUR = 3600

/** Where a token of each pool is asked for. Neither exists, so that a good token is answered with 404. */
const DOOR = {
  admin: ['DELETE', '/admin/data/resources/res_0000000000000000'],
  data: ['POST', '/data/nothing'],
} as const satisfies Record<PoolKind, readonly [string, string]>

const USES = { admin: 'id', data: 'access' } as const

/** A door, and what it takes to make a token that opens it. */
async function lockOf(host: string, kind: PoolKind) {
  const site = await stack.context.sites.find(host)
  const { auth } = await stack.context.pools.bootstrap(site)
  const { userPoolId } = await stack.context.pools.discovery(site)
  const poolId = kind === 'admin' ? auth.userPoolId : userPoolId
  // The first token of a pool makes its key.
  const keyless = await stack.context.pools.byId(site, poolId)
  const { kid, key } = await stack.context.signingKeys.signer(site, keyless)
  const pool = await stack.context.pools.byId(site, poolId)
  const jwk = pool.keys.get(kid)?.publicJwk
  if (!jwk) throw new Error('The pool does not publish the key it signs with')
  const email = kind === 'admin' ? `ann@${host}` : 'vic@example.org'
  if (kind === 'data') await stack.context.users.ensureVisitor(site, pool, email)
  const user = await stack.context.users.byEmail(site, pool, email)
  const now = Math.floor(Date.now() / 1000)
  const subject = {
    sub: user.sub,
    username: email,
    email,
    emailVerified: true,
    groups: [user.role ?? 'editors'],
  }
  const claims = newTokenClaims(pool, USES[kind], subject, {
    issuedAtSeconds: now,
    authTimeSeconds: now,
    jti: randomUUID(),
  })
  const header = { alg: 'RS256', kid, typ: 'JWT' }
  return {
    pool,
    claims,
    header,
    jwk,
    now,
    sign: (change: object = {}, headerChange: object = {}, by: CryptoKey = key) =>
      new SignJWT({ ...claims, ...change })
        .setProtectedHeader({ ...header, ...headerChange })
        .sign(by),
  }
}
type Lock = Awaited<ReturnType<typeof lockOf>>

const encoded = (value: unknown) => base64url.encode(JSON.stringify(value))

function knock(
  host: string,
  kind: PoolKind,
  authorization: string | readonly string[] | undefined,
) {
  const [method, path] = DOOR[kind]
  const headers = authorization === undefined ? {} : { authorization }
  return stack.call(host, method, path, {
    headers,
    ...(kind === 'data' && { body: { payload: {} } }),
  })
}

/** The token was taken: what follows is the route's own business. */
const isInside = ({ status, json }: { status: number; json: { error?: { code: string } } }) =>
  status !== 401 && json.error?.code !== 'RouteNotFound'

const other = (kind: PoolKind): PoolKind => (kind === 'admin' ? 'data' : 'admin')

function signedWithPublicKey({ jwk, header, claims }: Lock, format: 'pem' | 'der'): string {
  const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  const secret = publicKey.export({ format: format as 'pem', type: 'spki' })
  const signed = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function tampered(token: string, change: object): string {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return [header, encoded({ ...claims, ...change }), signature].join('.')
}

async function signedByStranger(lock: Lock, how: 'jwk' | 'jku' | 'x5c' | 'kid'): Promise<string> {
  const stranger = await generateKeyPair('RS256')
  const extra = {
    jwk: { jwk: await exportJWK(stranger.publicKey) },
    jku: { jku: 'https://stranger.test/jwks.json' },
    x5c: { x5c: ['MIIB'] },
    kid: {},
  }
  return lock.sign({}, extra[how], stranger.privateKey)
}

/** Every way a token can be wrong, as the Authorization header that carries it. */
const REFUSALS: readonly (readonly [
  what: string,
  make: (lock: Lock, kind: PoolKind) => Promise<string | undefined> | string | undefined,
])[] = [
  ['none', () => undefined],
  ['an empty header', () => ''],
  ['no token after the scheme', () => 'Bearer'],
  ['another scheme', async (lock) => `Basic ${await lock.sign()}`],
  ['no scheme', async (lock) => lock.sign()],
  ['the operator key', () => `Bearer ${stack.operatorKey}`],
  ['a second token in the header', async (lock) => `Bearer ${await lock.sign()}, Bearer a.b.c`],
  ['another site’s', async (_, kind) => `Bearer ${await (await lockOf('two.test', kind)).sign()}`],
  [
    'the other pool’s',
    async (_, kind) => `Bearer ${await (await lockOf('one.test', other(kind))).sign()}`,
  ],
  [
    'the kid of the other pool',
    async (lock, kind) =>
      `Bearer ${await lock.sign({}, { kid: (await lockOf('one.test', other(kind))).header.kid })}`,
  ],
  [
    'the key and kid of the other pool',
    async (lock, kind) =>
      `Bearer ${await (await lockOf('one.test', other(kind))).sign({ ...lock.claims })}`,
  ],
  ['an unknown kid', async (lock) => `Bearer ${await lock.sign({}, { kid: 'A'.repeat(43) })}`],
  ['no kid', async (lock) => `Bearer ${await lock.sign({}, { kid: undefined })}`],
  [
    'alg none without a signature',
    ({ header, claims }) => `Bearer ${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`,
  ],
  [
    'alg none with a signature',
    async ({ header, claims, sign }) =>
      `Bearer ${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.${(await sign()).split('.')[2]}`,
  ],
  ['HS256 with the public key (PEM)', (lock) => `Bearer ${signedWithPublicKey(lock, 'pem')}`],
  ['HS256 with the public key (DER)', (lock) => `Bearer ${signedWithPublicKey(lock, 'der')}`],
  [
    'a stranger’s key under our kid',
    async (lock) => `Bearer ${await signedByStranger(lock, 'kid')}`,
  ],
  ['a key of its own as jwk', async (lock) => `Bearer ${await signedByStranger(lock, 'jwk')}`],
  ['a key set of its own as jku', async (lock) => `Bearer ${await signedByStranger(lock, 'jku')}`],
  ['a certificate as x5c', async (lock) => `Bearer ${await signedByStranger(lock, 'x5c')}`],
  [
    'our signature over a jku',
    async (lock) => `Bearer ${await lock.sign({}, { jku: 'https://x' })}`,
  ],
  ['another typ', async (lock) => `Bearer ${await lock.sign({}, { typ: 'at+jwt' })}`],
  ['a critical header', async (lock) => `Bearer ${await criticalHeader(lock)}`],
  ['not yet valid', async (lock) => `Bearer ${await lock.sign({ nbf: lock.now + HOUR })}`],
  ['issued in the future', async (lock) => `Bearer ${await lock.sign({ iat: lock.now + HOUR })}`],
  ['no expiry', async (lock) => `Bearer ${await lock.sign({ exp: undefined })}`],
  [
    'expired and of another client',
    async (lock) =>
      `Bearer ${await lock.sign({ exp: lock.now - 1, aud: 'x'.repeat(26), client_id: 'x'.repeat(26) })}`,
  ],
  [
    'expired and unknown',
    async (lock) => `Bearer ${await lock.sign({ exp: lock.now - 1, sub: randomUUID() })}`,
  ],
  [
    'of another client',
    async ({ sign, claims }) =>
      `Bearer ${await sign(claims.aud === undefined ? { client_id: 'x'.repeat(26) } : { aud: 'x'.repeat(26) })}`,
  ],
  [
    'of another issuer',
    async (lock) => `Bearer ${await lock.sign({ iss: `${lock.pool.issuer}/` })}`,
  ],
  ['of another use', async (lock) => `Bearer ${await lock.sign({ token_use: 'refresh' })}`],
  ['of an unknown issuer', async (lock) => `Bearer ${await lock.sign({ sub: randomUUID() })}`],
  ['a changed sub', async (lock) => `Bearer ${tampered(await lock.sign(), { sub: randomUUID() })}`],
  [
    'changed groups',
    async (lock) => `Bearer ${tampered(await lock.sign(), { 'cognito:groups': ['root'] })}`,
  ],
  ['a later expiry', async (lock) => `Bearer ${tampered(await lock.sign(), { exp: 9e9 })}`],
  ['a cut signature', async (lock) => `Bearer ${(await lock.sign()).slice(0, -1)}`],
  ['a header that repeats alg', async (lock) => `Bearer ${await repeatedAlg(lock)}`],
  ['more than 8 KiB', async (lock) => `Bearer ${await lock.sign({ filler: 'x'.repeat(8192) })}`],
  ['three dots and nothing else', () => 'Bearer ...'],
]

async function repeatedAlg(lock: Lock): Promise<string> {
  const [, payload, signature] = (await lock.sign()).split('.')
  const header = `{"alg":"RS256","kid":"${lock.header.kid}","typ":"JWT","alg":"none"}`
  return [base64url.encode(header), payload, signature].join('.')
}

async function criticalHeader(lock: Lock): Promise<string> {
  const [, payload, signature] = (await lock.sign()).split('.')
  return [encoded({ ...lock.header, crit: ['b64'], b64: false }), payload, signature].join('.')
}

describe.each(['admin', 'data'] as const)('on /%s', (kind) => {
  test('a good token gets past the door, on its own site', async () => {
    for (const host of ['one.test', 'two.test']) {
      const lock = await lockOf(host, kind)
      const answer = await knock(host, kind, `Bearer ${await lock.sign()}`)
      expect(isInside(answer)).toBe(true)
    }
  })

  test.each(REFUSALS)('a token is refused: %s', async (_what, make) => {
    const lock = await lockOf('one.test', kind)
    const answer = await knock('one.test', kind, await make(lock, kind))
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
    const error = {
      code: 'Unauthorized',
      message: 'This route needs a valid token of this site as "Authorization: Bearer …"',
      requestId: expect.any(String),
    }
    expect(answer.json).toEqual(kind === 'data' ? { ok: false, error } : { error })
  })

  test('a header sent twice is refused, though each has a good token', async () => {
    const good = `Bearer ${await (await lockOf('one.test', kind)).sign()}`
    for (const authorization of [
      [good, good],
      [good, 'Bearer a.b.c'],
    ]) {
      expect((await knock('one.test', kind, authorization)).status).toBe(401)
    }
  })

  test('an expired token that is right in everything else gets that error', async () => {
    const lock = await lockOf('one.test', kind)
    const answer = await knock('one.test', kind, `Bearer ${await lock.sign({ exp: lock.now - 1 })}`)
    expect(answer).toMatchObject({ status: 401, json: { error: { code: 'TokenExpired' } } })
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"')
  })
})

describe('an id token', () => {
  test('is refused on /data', async () => {
    const lock = await lockOf('one.test', 'data')
    const id = { token_use: 'id', aud: lock.pool.clientId, client_id: undefined }
    const answer = await knock('one.test', 'data', `Bearer ${await lock.sign(id)}`)
    expect(answer).toMatchObject({ status: 401, json: { error: { code: 'Unauthorized' } } })
  })

  test('opens /admin as well as an access token does', async () => {
    const lock = await lockOf('one.test', 'admin')
    const access = { token_use: 'access', client_id: lock.pool.clientId, aud: undefined }
    const answer = await knock('one.test', 'admin', `Bearer ${await lock.sign(access)}`)
    expect(isInside(answer)).toBe(true)
  })
})
