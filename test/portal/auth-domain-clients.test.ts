import { generateKeyPairSync } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RegisteredParty } from '#test/registered-client.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const VIC = 'vic@example.org'

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwks = { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' }] }

describe('a confidential client whose site moves its sign-in', () => {
  let stack: Stack
  const cleanUp = new AsyncDisposableStack()
  beforeAll(async () => {
    stack = cleanUp.use(await startStack({ sites: [HOST] }))
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  })
  afterAll(() => cleanUp.disposeAsync())

  let names = 0
  const move = async () => {
    const authDomain = `auth${++names}.${HOST}`
    expect((await stack.portal('PATCH', `/sites/${HOST}`, { authDomain })).status).toBe(200)
  }

  test('goes on with its secret, at the former issuer', async () => {
    const app = await RegisteredParty.register(stack, HOST)
    const before = await app.tokens(VIC)
    const code = await app.code(VIC)
    await move()
    const renewed = await app.refresh(before.refresh_token)
    expect(renewed.status, renewed.text).toBe(200)
    // A code that was in flight when the sign-in moved.
    expect((await app.exchange(code)).status).toBe(200)
    expect((await app.refresh(renewed.json.refresh_token, app.basic('wrong'))).status).toBe(401)
    expect((await app.revoke(renewed.json.refresh_token)).status).toBe(200)
    expect((await app.refresh(renewed.json.refresh_token)).json.error).toBe('invalid_grant')
  })

  test('proves itself by its key to the issuer that it asks, and to no other one', async () => {
    const registration = { authentication: 'private_key_jwt', jwks }
    const app = await RegisteredParty.register(stack, HOST, registration)
    const old = app.party.pool.issuer
    const proofFor = (aud: string) => app.signed(keys.privateKey, { aud })
    const before = await app.tokens(VIC, await proofFor(old))
    await move()
    const now = await app.party.at(stack)
    expect(now.pool.issuer).not.toBe(old)
    let token = before.refresh_token
    for (const [party, own, other] of [
      [app.party, old, now.pool.issuer],
      [now, now.pool.issuer, old],
    ] as const) {
      const refresh = async (aud: string) => {
        const fields = { grant_type: 'refresh_token', refresh_token: token }
        return party.post('token', { ...fields, ...(await proofFor(aud)).fields })
      }
      expect((await refresh(other)).json).toMatchObject({ error: 'invalid_client' })
      const renewed = await refresh(own)
      expect(renewed.status, renewed.text).toBe(200)
      token = renewed.json.refresh_token
    }
    // One proof is good once, at either.
    const proof = await proofFor(old)
    const fields = { grant_type: 'refresh_token', refresh_token: token }
    const first = await app.party.post('token', { ...fields, ...proof.fields })
    expect(first.status, first.text).toBe(200)
    const again = { ...fields, refresh_token: first.json.refresh_token, ...proof.fields }
    expect((await app.party.post('token', again)).json).toMatchObject({ error: 'invalid_client' })
  })
})
