import { describe, expect, test } from 'vitest'

import { hashKeyId, keyIdOf, withKeyId, withoutKeyId } from './hash-keys.ts'

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g'

describe('a hash', () => {
  test('names its key, and is the same without the name', () => {
    const keyId = hashKeyId(Buffer.alloc(32, 1))
    const named = withKeyId(HASH, keyId)
    expect(named).toBe(`$argon2id$v=19$m=19456,t=2,p=1,keyid=${keyId}$c2FsdHNhbHQ$aGFzaGhhc2g`)
    expect(keyIdOf(named)).toBe(keyId)
    expect(withoutKeyId(named)).toBe(HASH)
  })

  test('of this installation names none', () => {
    expect(keyIdOf(HASH)).toBeUndefined()
    expect(withoutKeyId(HASH)).toBe(HASH)
  })
})

test('another key has another name', () => {
  expect(hashKeyId(Buffer.alloc(32, 1))).not.toBe(hashKeyId(Buffer.alloc(32, 2)))
})
