import { parseOptions } from '@node-rs/argon2'
import { describe, expect, test } from 'vitest'

import { PasswordHasher } from './hasher.ts'

const HERE = '192.0.2.1'
const hasher = new PasswordHasher({ secret: Buffer.alloc(32, 1), concurrency: 1 })

describe('a password’s hash', () => {
  test('is argon2id at the cost that OWASP asks for, and another one each time', async () => {
    const [one, two] = [
      await hasher.hash('Correct-horse-9', HERE),
      await hasher.hash('Correct-horse-9', HERE),
    ]
    expect(parseOptions(one)).toMatchObject({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
    expect(one).toMatch(/^\$argon2id\$v=19\$/)
    expect(one).not.toBe(two)
    expect(hasher.isOutdated(one)).toBe(false)
    expect(hasher.isOutdated(one.replace('t=2', 't=1'))).toBe(true)
  })

  test('verifies the password, and nothing else', async () => {
    const stored = await hasher.hash('Correct-horse-9', HERE)
    expect(await hasher.verify(stored, 'Correct-horse-9', HERE)).toBe(true)
    expect(await hasher.verify(stored, 'correct-horse-9', HERE)).toBe(false)
    expect(await hasher.verify(stored, '', HERE)).toBe(false)
  })

  test('is of the whole password, however long', async () => {
    const long = 'a'.repeat(255)
    const stored = await hasher.hash(`${long}b`, HERE)
    expect(await hasher.verify(stored, `${long}b`, HERE)).toBe(true)
    expect(await hasher.verify(stored, `${long}c`, HERE)).toBe(false)
    expect(await hasher.verify(stored, long, HERE)).toBe(false)
  })

  test('takes the two spellings of an accented letter for one', async () => {
    const stored = await hasher.hash('Caf\u00e9-noir-9', HERE)
    expect(await hasher.verify(stored, 'Cafe\u0301-noir-9', HERE)).toBe(true)
  })

  test('says nothing to another instance, whose key is another', async () => {
    const stored = await hasher.hash('Correct-horse-9', HERE)
    const other = new PasswordHasher({ secret: Buffer.alloc(32, 2), concurrency: 1 })
    expect(await other.verify(stored, 'Correct-horse-9', HERE)).toBe(false)
  })

  test('of an unknown account is verified too, and is never right', async () => {
    expect(await hasher.verify(undefined, 'Correct-horse-9', HERE)).toBe(false)
    expect(await hasher.verify(undefined, '', HERE)).toBe(false)
  })
})
