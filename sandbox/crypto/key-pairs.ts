import { generateKeyPairSync, type KeyObject } from 'node:crypto'

import { orFail } from './crypto-failure.ts'
import type { CryptoFields } from './crypto-fields.ts'
import { derOf } from './key-forms.ts'
import { OPENSSL_CURVES } from './key-kinds.ts'
import { MAX_RSA_BITS, MIN_RSA_BITS } from './limits.ts'

const QUICK_KINDS = ['P-256', 'P-384', 'P-521', 'Ed25519', 'Ed448', 'X25519', 'X448'] as const

/** A pair of the kinds that take a few milliseconds at most. */
export function quickPair(fields: CryptoFields): string {
  const kind = fields.oneOf('kind', QUICK_KINDS)
  switch (kind) {
    case 'Ed25519':
      return written(generateKeyPairSync('ed25519'))
    case 'Ed448':
      return written(generateKeyPairSync('ed448'))
    case 'X25519':
      return written(generateKeyPairSync('x25519'))
    case 'X448':
      return written(generateKeyPairSync('x448'))
    case 'P-256':
    case 'P-384':
    case 'P-521':
      return written(generateKeyPairSync('ec', { namedCurve: OPENSSL_CURVES[kind] }))
  }
}

/** Takes as long as it takes to find two primes. */
export function rsaPair(fields: CryptoFields): string {
  const modulusLength = fields.integer('modulusLength', MIN_RSA_BITS, MAX_RSA_BITS)
  const publicExponent = fields.integer('publicExponent', 3, 2 ** 32 - 1)
  return orFail('OperationError', 'No such RSA key can be made', () =>
    written(generateKeyPairSync('rsa', { modulusLength, publicExponent })),
  )
}

function written(pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }): string {
  return JSON.stringify({
    privateKey: derOf(pair.privateKey).toString('base64'),
    publicKey: derOf(pair.publicKey).toString('base64'),
  })
}
