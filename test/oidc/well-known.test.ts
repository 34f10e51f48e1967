import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { discoveryDocument } from '#http/oidc/discovery-document.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const get = (host: string, path: string) => stack.call(host, 'GET', path)
const pathOf = (url: string) => new URL(url).pathname

async function issuersOf(host: string): Promise<{ admin: string; data: string }> {
  const [admin, data] = [
    await get(host, '/admin/public/config'),
    await get(host, '/data/auth/config'),
  ]
  return { admin: admin.json.auth.issuer, data: data.json.data.issuer }
}

const document = (host: string, issuer: string) =>
  get(host, `${pathOf(issuer)}/.well-known/openid-configuration`)
const keys = (host: string, issuer: string) => get(host, `${pathOf(issuer)}/.well-known/jwks.json`)

/** A relying party's fetch: the name in the URL goes into the Host header, as DNS would have it. */
async function fetchByHost(url: string): Promise<Response> {
  const { status, text } = await get(new URL(url).hostname, pathOf(url))
  return new Response(text, { status })
}

describe('the discovery document', () => {
  test.each(['admin', 'data'] as const)('of the %s pool is at its issuer', async (kind) => {
    const issuer = (await issuersOf('one.test'))[kind]
    const answer = await document('one.test', issuer)
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' },
    })
    expect(answer.json).toEqual(discoveryDocument({ issuer, settings: { scopes: {} } }))
  })

  test('and the keys of another site’s pool do not exist here', async () => {
    const { admin, data } = await issuersOf('two.test')
    for (const issuer of [admin, data, 'http://one.test/oidc/eu-central-1_Unknown12']) {
      for (const answer of [await document('one.test', issuer), await keys('one.test', issuer)]) {
        expect(answer).toMatchObject({
          status: 404,
          json: { error: { code: 'UserPoolNotFound', requestId: expect.any(String) } },
        })
      }
    }
  })

  test('is not there for a host that no site has', async () => {
    const { admin } = await issuersOf('one.test')
    expect(await document('nobody.test', admin)).toMatchObject({
      status: 404,
      json: { error: { code: 'SiteNotFound' } },
    })
  })
})

describe('the key set', () => {
  test('has public numbers only, and may be cached for a minute', async () => {
    const { admin, data } = await issuersOf('one.test')
    const sets = [await keys('one.test', admin), await keys('one.test', data)]
    for (const answer of sets) {
      expect(answer).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'public, max-age=60', 'access-control-allow-origin': '*' },
      })
      expect(answer.json).toEqual({
        keys: [
          {
            kty: 'RSA',
            use: 'sig',
            alg: 'RS256',
            kid: expect.stringMatching(/^[\w-]{43}$/),
            n: expect.stringMatching(/^[\w-]{342}$/),
            e: 'AQAB',
          },
        ],
      })
    }
    expect(sets[0]?.json.keys[0].kid).not.toBe(sets[1]?.json.keys[0].kid)
  })

  test('verifies our tokens in a relying party that knows the issuer alone, across a rotation', async () => {
    const { data: issuer } = await issuersOf('one.test')
    const discovered = (await document('one.test', issuer)).json
    const keySet = createRemoteJWKSet(new URL(discovered.jwks_uri), {
      [customFetch]: (url) => fetchByHost(url),
      cooldownDuration: 0,
    })
    const accept = (token: string) =>
      jwtVerify(token, keySet, { issuer: discovered.issuer, algorithms: ['RS256'], typ: 'JWT' })

    const old = await stack.dataToken('one.test')
    expect((await accept(old)).payload['token_use']).toBe('access')

    const rotated = await stack.call('one.test', 'POST', '/portal/api/sites/one.test/keys/rotate', {
      token: stack.operatorKey,
      body: { pool: 'data' },
    })
    expect(rotated.status).toBe(200)
    const fresh = await stack.dataToken('one.test')
    expect(decodeProtectedHeader(fresh).kid).toBe(rotated.json.rotated[0].kid)
    await accept(fresh)
    await accept(old)
    await expect(accept(await stack.dataToken('two.test'))).rejects.toThrow('no applicable key')
  })

  test('of a second replica has the new key after a rotation, without a restart', async () => {
    await using second = await startStack({ beside: stack })
    const { admin: issuer } = await issuersOf('one.test')
    const path = `${pathOf(issuer)}/.well-known/jwks.json`
    const kids = async () =>
      (await second.call('one.test', 'GET', path)).json.keys.map((key: { kid: string }) => key.kid)
    const before = await kids()
    const rotated = await stack.portal('POST', '/sites/one.test/keys/rotate', { pool: 'admin' })
    const kid = rotated.json.rotated[0].kid
    expect(before).not.toContain(kid)
    await expect.poll(kids).toEqual([kid, ...before])
    expect(decodeProtectedHeader(await second.adminToken('one.test')).kid).toBe(kid)
  })
})
