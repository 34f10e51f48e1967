import { generateKeyPairSync } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { runLongCrypto } from './crypto-thread.ts'
import { MAX_PARSED_KEYS } from './limits.ts'
import { ParsedKeys } from './parsed-keys.ts'
import { QuickCrypto } from './quick-crypto.ts'

const der = (pair: { readonly privateKey: ReturnType<typeof generateKeyPairSync>['privateKey'] }) =>
  new Uint8Array(pair.privateKey.export({ format: 'der', type: 'pkcs8' }))
const DATA = new Uint8Array(16)
const REFUSED = /^!(?:OperationError|DataError):[^\n]+$/

describe('what an isolate asks of the host', () => {
  const crypto = new QuickCrypto()

  test.each<
    readonly [what: string, operation: unknown, request: unknown, parts: readonly unknown[]]
  >([
    ['an operation that is none', 'toString', '{}', []],
    ['a name that is no text', ['digest'], '{}', []],
    ['a request that is no text', 'digest', { hash: 'SHA-256' }, []],
    ['a request that is no JSON', 'digest', '{', []],
    ['a request that is no object', 'digest', 'null', []],
    ['an unknown hash', 'digest', '{"hash":"__proto__"}', [DATA]],
    ['a hash that is a list', 'digest', '{"hash":["SHA-256"]}', [DATA]],
    ['no parts', 'sign', '{"scheme":"ECDSA","hash":"SHA-256"}', []],
    ['parts that are no bytes', 'sign', '{"scheme":"ECDSA","hash":"SHA-256"}', ['a', {}, null]],
    ['a key that is none', 'verify', '{"scheme":"Ed25519"}', [DATA, DATA, DATA]],
    [
      'an AES key of no length',
      'aes',
      '{"mode":"gcm","tagLength":128}',
      [new Uint8Array(5), DATA, DATA],
    ],
    ['a tag of a fraction', 'aes', '{"mode":"gcm","tagLength":32.5}', [DATA, DATA, DATA]],
    ['a length below zero', 'hkdf', '{"hash":"SHA-256","length":-1}', [DATA, DATA, DATA]],
    [
      'iterations of infinity',
      'pbkdf2',
      '{"hash":"SHA-256","length":1,"iterations":1e999}',
      [DATA, DATA],
    ],
    ['a curve that is not offered', 'generate', '{"kind":"secp256k1"}', []],
    ['RSA where it must be quick', 'generate', '{"kind":"RSA"}', []],
    ['a key of an unknown kind', 'readKey', '{"kind":"DSA","format":"spki"}', [DATA]],
    [
      'a key that only begins',
      'readKey',
      '{"kind":"RSA","format":"pkcs8"}',
      [new Uint8Array([0x30, 0x82, 0xff, 0xff, 2])],
    ],
    [
      'a key with an endless length',
      'readKey',
      '{"kind":"RSA","format":"pkcs8"}',
      [new Uint8Array([0x30, 0x84, 255, 255, 255, 255])],
    ],
    [
      'a JWK of other values',
      'readKey',
      '{"kind":"P-256","format":"jwk","jwk":{"kty":{},"crv":"P-256","x":1}}',
      [],
    ],
    [
      'a JWK with a member without end',
      'readKey',
      `{"kind":"RSA","format":"jwk","jwk":{"kty":"RSA","n":"${'A'.repeat(10_000)}","e":"AQAB"}}`,
      [],
    ],
    [
      'a key of DSA',
      'readKey',
      '{"kind":"RSA","format":"pkcs8"}',
      [der(generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }))],
    ],
    [
      'a key of RSA-PSS alone',
      'readKey',
      '{"kind":"RSA","format":"pkcs8"}',
      [der(generateKeyPairSync('rsa-pss', { modulusLength: 1024 }))],
    ],
    [
      'a curve by its parameters',
      'readKey',
      '{"kind":"P-256","format":"pkcs8"}',
      [der(generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' }))],
    ],
    [
      'an RSA key that is too short',
      'readKey',
      '{"kind":"RSA","format":"pkcs8"}',
      [der(generateKeyPairSync('rsa', { modulusLength: 512 }))],
    ],
  ])('is refused when it is %s', (_what, operation, request, parts) => {
    expect(crypto.answer(operation, request, parts)).toMatch(REFUSED)
  })

  test('is answered with a buffer of its own, not with a part of one that others share', () => {
    const answer = crypto.answer('digest', '{"hash":"SHA-256"}', [DATA])
    expect(answer).toBeInstanceOf(ArrayBuffer)
    expect((answer as ArrayBuffer).byteLength).toBe(32)
  })

  test('leaves what takes long to the threads, which give the same', () => {
    const asked = (iterations: number) =>
      JSON.stringify({ hash: 'SHA-256', length: 32, iterations })
    expect(crypto.answer('pbkdf2', asked(20_001), [DATA, DATA])).toBe('later')
    const quick = crypto.answer('pbkdf2', asked(1000), [DATA, DATA]) as ArrayBuffer
    const text = Buffer.from(DATA).toString('base64')
    const long = runLongCrypto(
      JSON.stringify({
        ...JSON.parse(asked(1000)),
        operation: 'pbkdf2',
        password: text,
        salt: text,
      }),
    )
    expect(long).toEqual({
      text: Buffer.from(quick).toString('base64'),
      cpuMs: expect.any(Number),
    })
  })

  test.each([
    '',
    '{}',
    '{"operation":"generateRsa","modulusLength":65536,"publicExponent":65537}',
    '{"operation":"generateRsa","modulusLength":2048,"publicExponent":4}',
    '{"operation":"sign"}',
  ])('is refused by the threads: %s', (request) => {
    expect(runLongCrypto(request).text).toMatch(REFUSED)
  })

  test('keeps only so many parsed keys', () => {
    const keys = new ParsedKeys()
    const seed = der(generateKeyPairSync('ed25519'))
    for (let at = 0; at < MAX_PARSED_KEYS + 50; at += 1) {
      seed.set([at & 255, at >> 8], seed.length - 2)
      const key = keys.privateKey(seed)
      expect(keys.privateKey(seed)).toBe(key)
    }
    expect(keys.size).toBe(MAX_PARSED_KEYS)
  })
})
