import { constants, createHmac, sign, verify, type KeyObject } from 'node:crypto'

import { orFail } from './crypto-failure.ts'
import type { CryptoFields } from './crypto-fields.ts'
import type { ParsedKeys } from './parsed-keys.ts'

const SCHEMES = ['ECDSA', 'Ed25519', 'Ed448', 'RSA-PSS', 'RSASSA-PKCS1-v1_5'] as const
const MAX_SALT_BYTES = 1024
const EMPTY = new Uint8Array(0)

/** The parts: private key, data. */
export function signBytes(
  fields: CryptoFields,
  [der = EMPTY, data = EMPTY]: readonly Uint8Array[],
  keys: ParsedKeys,
): Buffer {
  const [hash, options] = schemeOf(fields)
  return orFail('OperationError', 'The data could not be signed with that key', () =>
    sign(hash, data, { key: keys.privateKey(der), ...options }),
  )
}

/** The parts: public key, signature, data. */
export function verifyBytes(
  fields: CryptoFields,
  [der = EMPTY, signature = EMPTY, data = EMPTY]: readonly Uint8Array[],
  keys: ParsedKeys,
): string {
  const [hash, options] = schemeOf(fields)
  const key = orFail('OperationError', 'The key cannot be used', () => keys.publicKey(der))
  return String(matches(hash, data, { key, ...options, signature }))
}

/** The parts: key, data. */
export const hmacBytes = (
  fields: CryptoFields,
  [key = EMPTY, data = EMPTY]: readonly Uint8Array[],
): Buffer => createHmac(fields.hash(), key).update(data).digest()

function schemeOf(fields: CryptoFields) {
  switch (fields.oneOf('scheme', SCHEMES)) {
    case 'Ed25519':
    case 'Ed448':
      return [null, {}] as const
    case 'ECDSA':
      return [fields.hash(), { dsaEncoding: 'ieee-p1363' as const }] as const
    case 'RSASSA-PKCS1-v1_5':
      return [fields.hash(), { padding: constants.RSA_PKCS1_PADDING }] as const
    case 'RSA-PSS': {
      const saltLength = fields.integer('saltLength', 0, MAX_SALT_BYTES)
      return [fields.hash(), { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }] as const
    }
  }
}

interface Claim {
  readonly key: KeyObject
  readonly signature: Uint8Array
}

/** What is no signature at all is a wrong one. */
function matches(hash: string | null, data: Uint8Array, { signature, ...key }: Claim): boolean {
  try {
    return verify(hash, data, key, signature)
  } catch {
    return false
  }
}
