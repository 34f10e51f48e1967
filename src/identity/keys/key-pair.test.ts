import { createPublicKey } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { newKeyPair } from './key-pair.ts'
import { importSigningKey, importVerificationKey, jwksOf } from './model.ts'

const RS256 = 'RSASSA-PKCS1-v1_5'

describe('a new key pair', () => {
  test('signs what its public half verifies', async () => {
    const pair = await newKeyPair()
    const words = new TextEncoder().encode('words')
    const signature = await crypto.subtle.sign(
      RS256,
      await importSigningKey(pair.privateKey),
      words,
    )
    const publicKey = await importVerificationKey(pair.publicJwk)
    expect(await crypto.subtle.verify(RS256, publicKey, signature, words)).toBe(true)
  })

  test('has at least 2048 bits, a public half without private parts, and its thumbprint as kid', async () => {
    const { kid, publicJwk } = await newKeyPair()
    expect(Object.keys(publicJwk).sort()).toEqual(['e', 'kty', 'n'])
    expect(kid).toMatch(/^[\w-]{43}$/)
    const key = createPublicKey({ key: { ...publicJwk }, format: 'jwk' })
    expect(key.asymmetricKeyDetails?.modulusLength).toBeGreaterThanOrEqual(2048)
  })

  test('cannot be read back once imported', async () => {
    const key = await importSigningKey((await newKeyPair()).privateKey)
    await expect(crypto.subtle.exportKey('pkcs8', key)).rejects.toThrow('key is not extractable')
  })

  test('is made off the event loop', async () => {
    const [before, beforeHere] = [process.cpuUsage(), process.threadCpuUsage()]
    await Promise.all([newKeyPair(), newKeyPair(), newKeyPair(), newKeyPair()])
    const here = process.threadCpuUsage(beforeHere).user
    expect(here).toBeLessThan(process.cpuUsage(before).user / 2)
  })
})

describe('a key set', () => {
  test('publishes retired keys until their last token has ended', async () => {
    const { kid, publicJwk } = await newKeyPair()
    const key = await importVerificationKey(publicJwk)
    const retired = { kid, publicJwk, key, signs: false, expiresAtMs: 1000 }
    const published = { ...publicJwk, kid, use: 'sig', alg: 'RS256' }
    expect(jwksOf([retired], 999).keys).toEqual([published])
    expect(jwksOf([retired], 1000).keys).toEqual([])
  })
})
