import {
  type KeyObject,
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign as signBytes,
} from 'node:crypto'

import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { expect } from 'vitest'

import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import type { Answer } from '#test/http-client.ts'
import type { RelyingParty } from '#test/relying-party.ts'

import { type Attack, type Row, type World, linkClientOf } from './world.ts'

/** The parts of an access token that was good a moment ago. */
interface Good {
  readonly token: string
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly party: RelyingParty
}

async function goodToken(world: World, party = world.one): Promise<Good> {
  const { access_token: token } = await party.tokens(world.email())
  expect(await party.isTaken(token)).toBe(true)
  const [header = '', claims = ''] = token.split('.')
  return { token, header: decoded(header), claims: decoded(claims), party }
}

/** Both `/data` and `/oauth2/userInfo`. */
async function knock({ stack, one }: World, token: string): Promise<Answer> {
  expect((await one.userInfo(token)).status).toBe(401)
  const body = { payload: {} }
  return stack.call('one.test', 'POST', '/data/nothing', { token, body })
}

/** What is made of a good token, at the door that the good one opens. */
const forged = (forge: (good: Good, world: World) => Promise<string> | string) =>
  async function prepare(world: World): Promise<Attack> {
    const good = await goodToken(world)
    const token = await forge(good, world)
    return {
      send: () => knock(world, token),
      afterwards: async () => expect(await good.party.isTaken(good.token)).toBe(true),
    }
  }

export const TOKEN_ROWS: readonly Row[] = (
  [
    ['alg none', withoutSignature],
    ['HS256 with the public key', signedWithPublicKey],
    ['RS384 with our key', signedLonger],
    ['PS256 with our key', signedSalted],
    ['a stranger’s key under our kid', (good) => byStranger(good, {})],
    ['a key of its own as jwk', (good) => byStranger(good, 'jwk')],
    ['a key set of its own as jku', (good) => byStranger(good, { jku: 'https://evil.test/jwks' })],
    ['a certificate of its own as x5c', (good) => byStranger(good, { x5c: ['MIIB'] })],
    ['a certificate elsewhere as x5u', (good) => byStranger(good, { x5u: 'https://evil.test/c' })],
    ['our signature over a jwk', (good) => byUs(good, { jwk: { kty: 'RSA' } }, {})],
    ['the kid of the other pool', withKidOf(({ admin }) => admin)],
    ['the kid of another site', withKidOf(({ two }) => two)],
    ['a kid that is a path', (good) => byUs(good, { kid: '../../keys' }, {})],
    ['a later end', (good) => changed(good, { exp: 9e9 })],
    ['another user', (good) => changed(good, { sub: '00000000-0000-4000-8000-000000000000' })],
    ['another client', (good) => byUs(good, {}, { client_id: linkClientOf(good.party.pool) })],
    ['another issuer', (good, { two }) => byUs(good, {}, { iss: two.pool.issuer })],
    ['another use', (good) => byUs(good, {}, { token_use: 'id' })],
    ['another sign-in', (good) => byUs(good, {}, { origin_jti: crypto.randomUUID() })],
    ['its start in the future', (good, world) => byUs(good, {}, { nbf: nowSeconds(world) + 600 })],
    ['the admin pool behind it', async (_, world) => (await goodAdmin(world)).token],
    ['another site behind it', async (_, world) => (await goodToken(world, world.two)).token],
    ['no access', async (_, { one }) => idTokenOf(one, 'id@mail.test')],
    ['only a refresh', async (_, { one }) => (await one.tokens('re@mail.test')).refresh_token],
    ['the link client behind it', async (_, world) => linkTokens(world, 'access_token')],
    ['the link client behind it, and no access', (_, world) => linkTokens(world, 'id_token')],
  ] satisfies readonly (readonly [string, (good: Good, world: World) => Promise<string> | string])[]
).map(([name, forge]): Row => [`a token with ${name}`, '401 Unauthorized', forged(forge)])

const nowSeconds = ({ stack }: World): number =>
  Math.floor(stack.context.clock.now().getTime() / 1000)

const decoded = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString())

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function withoutSignature({ header, claims, token }: Good): string {
  return `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.${token.split('.')[2]}`
}

function signedWithPublicKey({ header, claims, party }: Good): string {
  const jwk = party.pool.keys.get(String(header['kid']))?.publicJwk
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  const text = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims)}`
  const secret = key.export({ format: 'pem', type: 'spki' })
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

async function signedLonger({ header, claims, party }: Good): Promise<string> {
  const text = `${encoded({ ...header, alg: 'RS384' })}.${encoded(claims)}`
  const key = await privateKeyOf(party)
  return `${text}.${signBytes('RSA-SHA384', Buffer.from(text), key).toString('base64url')}`
}

async function signedSalted({ header, claims, party }: Good): Promise<string> {
  const text = `${encoded({ ...header, alg: 'PS256' })}.${encoded(claims)}`
  const key = {
    key: await privateKeyOf(party),
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 32,
  }
  return `${text}.${signBytes('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

async function keyOf({ stack, site, pool }: RelyingParty): Promise<CryptoKey> {
  return (await stack.context.signingKeys.signer(site, pool)).key
}

/** Our own key, for what our signer would not do with it. */
async function privateKeyOf({ stack, host, pool }: RelyingParty): Promise<KeyObject> {
  const [kid, sealer] = [pool.signingKid, new Sealer(stack.masterKey)]
  return stack.inSite(host, async (tx, { siteId }) => {
    const { wrappedKey, sealed } = await tx.db
      .selectFrom('signing_key as key')
      .innerJoin('site_key as site', 'site.site_id', 'key.site_id')
      .select(['site.wrapped_key as wrappedKey', 'key.sealed_private as sealed'])
      .where('key.kid', '=', kid)
      .executeTakeFirstOrThrow()
    const context = `signing-key:${pool.userPoolId}:${kid}`
    const key = sealer.open({ siteId, wrappedKey }, context, sealed)
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  })
}

async function byUs({ header, claims, party }: Good, more: object, other: object): Promise<string> {
  return new SignJWT({ ...claims, ...other })
    .setProtectedHeader({ ...header, alg: 'RS256', ...more })
    .sign(await keyOf(party))
}

async function byStranger({ header, claims }: Good, more: 'jwk' | object): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const own = more === 'jwk' ? { jwk: await exportJWK(publicKey) } : more
  return new SignJWT(claims)
    .setProtectedHeader({ ...header, alg: 'RS256', ...own })
    .sign(privateKey)
}

/** Signed by us for the visitors of one.test, with the name of another site's key. */
function withKidOf(other: (world: World) => RelyingParty) {
  return async (good: Good, world: World): Promise<string> =>
    byUs(good, { kid: other(world).pool.signingKid }, {})
}

function changed({ token, claims }: Good, other: object): string {
  const [header, , signature] = token.split('.')
  return [header, encoded({ ...claims, ...other }), signature].join('.')
}

/** Good for `/admin`, where the super-admin is the only one who is there from the start. */
async function goodAdmin({ admin, stack }: World): Promise<{ readonly token: string }> {
  const token = await stack.adminToken(admin.host)
  expect(await admin.isTaken(token)).toBe(true)
  return { token }
}

const idTokenOf = async (party: RelyingParty, email: string): Promise<string> =>
  (await party.tokens(email)).id_token ?? ''

/** As the way over Google ends for the link client. */
async function linkTokens(world: World, name: 'access_token' | 'id_token'): Promise<string> {
  const { one, stack } = world
  const clientId = linkClientOf(one.pool)
  const asked = one.params({ client_id: clientId, identity_provider: 'Google' })
  const pool = await stack.context.pools.byId(one.site, one.pool.userPoolId)
  const check = checkAuthorization(pool, asked)
  if (check.kind !== 'valid') throw new Error(`The link client may not ask: ${check.kind}`)
  const sub = await one.user(world.email())
  const origin = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }
  const proof = { sub, method: 'google', authTime: stack.context.clock.now() } as const
  const attempt = { site: one.site, request: check.request, origin }
  const { next } = await stack.context.signIns.complete(attempt, proof)
  if (next.kind !== 'client') throw new Error('The client is not asked about')
  const code = new URL(next.location).searchParams.get('code') ?? ''
  const answer = await one.exchange(code, { client_id: clientId })
  if (answer.status !== 200) throw new Error(`No tokens: ${answer.text}`)
  return String(answer.json[name])
}
