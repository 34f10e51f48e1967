import { createHmac, randomBytes } from 'node:crypto'

import * as library from 'amazon-cognito-identity-js'
import { beforeAll, describe, expect, test } from 'vitest'

import { Sealer } from '#platform/seal/sealer.ts'

import { clientPublicOf, openExchange, poolNameOf, proves, sessionKeyOf } from './exchange.ts'
import { G, N, signedBytesOf, hexOf, numberOf } from './group.ts'
import { ModularPowers } from './modular-powers.ts'
import { AddressVerifiers } from './verifiers.ts'

/** The library's own half of the exchange; its types leave it out. */
interface ClientHalf {
  readonly k: LibraryNumber
  getLargeAValue(done: (error: unknown, value: LibraryNumber) => void): void
  getPasswordAuthenticationKey(
    username: string,
    password: string,
    serverPublic: LibraryNumber,
    salt: LibraryNumber,
    done: (error: unknown, key: Uint8Array) => void,
  ): void
}
interface LibraryNumber {
  readonly constructor: new (digits: string, radix: 16) => LibraryNumber
  toString(radix: 16): string
}
const { AuthenticationHelper } = library as unknown as {
  AuthenticationHelper: new (poolName: string) => ClientHalf
}

const POOL = 'eu-central-1_AbCdEf123'
const EMAIL = 'ann@one.test'
const all = new ModularPowers()
const powers = all.from('192.0.2.1')
const verifiers = new AddressVerifiers({ sealer: new Sealer(randomBytes(32)), powers: all })

async function keysOf(known: string, typed: string, poolName = poolNameOf(POOL)) {
  const client = new AuthenticationHelper(poolName)
  const a = await new Promise<LibraryNumber>((resolve) => {
    client.getLargeAValue((_error, value) => resolve(value))
  })
  const { salt, verifier } = await verifiers.derive(POOL, {
    email: EMAIL,
    password: known,
    address: '192.0.2.1',
  })
  const clientPublic = clientPublicOf(a.toString(16))
  if (clientPublic === undefined) throw new Error('refused')
  const exchange = await openExchange(powers, clientPublic, numberOf(verifier))
  const LargeNumber = a.constructor
  const theirs = await new Promise<Uint8Array>((resolve) => {
    client.getPasswordAuthenticationKey(
      EMAIL,
      typed,
      new LargeNumber(hexOf(exchange.serverPublic), 16),
      new LargeNumber(salt.toString('hex'), 16),
      (_error, key) => resolve(key),
    )
  })
  const ours = await sessionKeyOf(powers, exchange, numberOf(verifier))
  return { ours: ours?.toString('hex'), theirs: Buffer.from(theirs).toString('hex') }
}

describe('the server’s half of SRP', () => {
  test.each(['Correct-Horse-1', 'Zoë’s päss 🔐 1A', 'x'.repeat(256), ' '])(
    'derives the key that amazon-cognito-identity-js derives from %j',
    async (password) => {
      const { ours, theirs } = await keysOf(password, password)
      expect(ours).toBe(theirs)
      expect(ours).toHaveLength(32)
    },
  )

  test('derives another key for another password, or another pool', async () => {
    const wrong = await keysOf('Correct-Horse-1', 'Correct-Horse-2')
    expect(wrong.ours).not.toBe(wrong.theirs)
    const elsewhere = await keysOf('Correct-Horse-1', 'Correct-Horse-1', 'XyZxYz123')
    expect(elsewhere.ours).not.toBe(elsewhere.theirs)
  })

  test('never opens two equal exchanges', async () => {
    const [one, two] = [await openExchange(powers, 5n, 7n), await openExchange(powers, 5n, 7n)]
    expect(one.serverPublic).not.toBe(two.serverPublic)
    expect(one.serverSecret).not.toBe(two.serverSecret)
  })
})

describe('the client’s public value', () => {
  test.each([
    ['zero', '0'],
    ['the prime', hexOf(N)],
    ['twice the prime', hexOf(2n * N)],
    ['more than the prime', hexOf(N + 1n)],
    ['nothing', ''],
    ['no number', 'xyz'],
    ['a sign', '-5'],
    ['a prefix', '0x5'],
    ['a line end', '5\n'],
    ['too many digits', '0'.repeat(768) + '5'],
  ])('is refused when it is %s', (_what, hex) => {
    expect(clientPublicOf(hex)).toBeUndefined()
  })

  test('is read in either case', () => {
    expect([clientPublicOf('aB'), clientPublicOf(hexOf(N - 1n).toUpperCase())]).toEqual([
      171n,
      N - 1n,
    ])
  })
})

describe('the proof of the key', () => {
  const key = randomBytes(16)
  const claim = {
    poolName: 'AbCdEf123',
    userId: EMAIL,
    secretBlock: randomBytes(64),
    timestamp: 'Wed Apr 5 22:42:34 UTC 2017',
  }
  const signature = createHmac('sha256', key)
    .update(
      Buffer.concat([
        Buffer.from(claim.poolName + claim.userId),
        claim.secretBlock,
        Buffer.from(claim.timestamp),
      ]),
    )
    .digest('base64')

  test('is the signature of pool, user, block and time', () => {
    expect(proves(key, claim, signature)).toBe(true)
  })

  test.each([
    ['another key', { key: randomBytes(16) }],
    ['another pool', { poolName: 'AbCdEf124' }],
    ['another user', { userId: 'bob@one.test' }],
    ['another block', { secretBlock: randomBytes(64) }],
    ['another time', { timestamp: 'Wed Apr 5 22:42:35 UTC 2017' }],
    ['no signature', { signature: '' }],
    ['half a signature', { signature: signature.slice(0, 22) }],
    ['another spelling', { signature: signature.replace('=', '') }],
    ['too much', { signature: `${signature}A` }],
  ])('is not %s', (_what, { key: otherKey, signature: otherSignature, ...other }: Changed) => {
    expect(proves(otherKey ?? key, { ...claim, ...other }, otherSignature ?? signature)).toBe(false)
  })
})

interface Changed {
  readonly key?: Buffer
  readonly signature?: string
  readonly poolName?: string
  readonly userId?: string
  readonly secretBlock?: Buffer
  readonly timestamp?: string
}

describe('a verifier', () => {
  let known: Awaited<ReturnType<typeof verifiers.derive>>
  beforeAll(async () => {
    known = await verifiers.derive(POOL, {
      email: EMAIL,
      password: 'Correct-Horse-1',
      address: '192.0.2.1',
    })
  })

  test('has a salt that follows from pool and address alone', async () => {
    const later = await verifiers.derive(POOL, {
      email: EMAIL,
      password: 'Another-Horse-1',
      address: '192.0.2.1',
    })
    expect(later.salt).toEqual(known.salt)
    expect(later.verifier).not.toEqual(known.verifier)
    expect(verifiers.saltOf(POOL, 'bob@one.test')).not.toEqual(known.salt)
    expect(verifiers.saltOf('eu-central-1_AbCdEf124', EMAIL)).not.toEqual(known.salt)
    expect(signedBytesOf(numberOf(known.salt))).toEqual(known.salt)
  })

  test('fits the address that it was made for', () => {
    expect(verifiers.fits(known, POOL, EMAIL)).toBe(true)
    expect(verifiers.fits(known, POOL, 'ann@two.test')).toBe(false)
    expect(verifiers.fits(known, 'eu-central-1_AbCdEf124', EMAIL)).toBe(false)
    expect(verifiers.fits(undefined, POOL, EMAIL)).toBe(false)
  })

  test('of an unknown address is stable, and a square as real ones are', async () => {
    const decoy = verifiers.decoyOf(POOL, 'nobody@one.test')
    expect(verifiers.decoyOf(POOL, 'nobody@one.test')).toBe(decoy)
    expect(verifiers.decoyOf(POOL, 'no-one@one.test')).not.toBe(decoy)
    const order = (N - 1n) / 2n
    expect(await powers.raise(decoy, order)).toBe(1n)
    expect(await powers.raise(numberOf(known.verifier), order)).toBe(1n)
    expect(await powers.raise(G, order)).toBe(1n)
  })
})
