import { randomBytes } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { Sealer } from './sealer.ts'

const sealer = new Sealer(randomBytes(32))
const siteKey = (siteId: string, by = sealer) => ({ siteId, wrappedKey: by.newSiteKey(siteId) })
const one = siteKey('one')

describe('a sealed secret', () => {
  test('opens to what was sealed, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.string(), (plaintext, context) => {
        const sealed = sealer.seal(one, context, plaintext)
        expect(new Uint8Array(sealer.open(one, context, sealed))).toEqual(plaintext)
      }),
    )
  })

  test('does not open when any one bit is flipped', () => {
    const sealed = sealer.seal(one, 'signing-key:1', Buffer.from('secret'))
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => sealer.open(one, 'signing-key:1', changed)).toThrow('does not open')
    }
  })

  test('does not open when cut short at any place', () => {
    const sealed = sealer.seal(one, 'c', Buffer.from('secret'))
    for (let length = 0; length < sealed.length; length++) {
      expect(() => sealer.open(one, 'c', sealed.subarray(0, length))).toThrow('does not open')
    }
  })

  test('does not open under other words', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (words, others) => {
        fc.pre(words !== others)
        const sealed = sealer.seal(one, words, Buffer.from('secret'))
        expect(() => sealer.open(one, others, sealed)).toThrow('does not open')
      }),
    )
  })

  test('does not open with the key of another site', () => {
    const sealed = sealer.seal(one, 'c', Buffer.from('secret'))
    expect(() => sealer.open(siteKey('two'), 'c', sealed)).toThrow('"c" of site "two"')
  })

  test('does not open when another site shows the wrapped key as its own', () => {
    const sealed = sealer.seal(one, 'c', Buffer.from('secret'))
    const stolen = { siteId: 'two', wrappedKey: one.wrappedKey }
    expect(() => sealer.open(stolen, 'c', sealed)).toThrow('key of site "two" does not open')
  })

  test('does not open under another master key', () => {
    const other = new Sealer(randomBytes(32))
    expect(() => other.open(one, 'c', sealer.seal(one, 'c', Buffer.from('x')))).toThrow(
      'wrapped with another master key',
    )
  })

  test('never looks the same twice', () => {
    const seals = Array.from({ length: 100 }, () => sealer.seal(one, 'c', Buffer.from('x')))
    expect(new Set(seals.map((sealed) => sealed.toString('hex'))).size).toBe(100)
  })
})

describe('a derived key', () => {
  test('is the same for the same purpose and another for another', () => {
    expect(sealer.derive('page-tokens')).toEqual(sealer.derive('page-tokens'))
    expect(sealer.derive('page-tokens')).not.toEqual(sealer.derive('signed-urls'))
    expect(sealer.derive('page-tokens')).toHaveLength(32)
  })

  test('stays what it is in every later version', () => {
    const fixed = new Sealer(Buffer.alloc(32, 7))
    expect(fixed.derive('page-tokens').toString('hex')).toMatchInlineSnapshot(
      `"39133b43d002c019fd71170a736fa81dc02dbd8acfd38e707931496b5f94d0ba"`,
    )
  })
})

test('a master key of another length is refused', () => {
  expect(() => new Sealer(randomBytes(16))).toThrow('32 bytes')
})
