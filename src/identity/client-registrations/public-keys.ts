import { createPublicKey } from 'node:crypto'

import { invalid } from '#base/app-error.ts'

import type { PublicKeys } from './model.ts'

/** RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1, RFC 8037 section 2. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const MEMBERS = [
  'kty',
  'kid',
  'use',
  'alg',
  'n',
  'e',
  'crv',
  'x',
  'y',
  'key_ops',
  'x5t',
  'x5t#S256',
]
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 4096
const MAX_KEY_LENGTH = 4096

/** The keys as they are stored: what a key says of itself beyond the standard is left out. 400 for any that verifies nothing here. */
export function checkedKeys({ keys }: PublicKeys): PublicKeys {
  return {
    keys: keys.map((key, at) => {
      const fault = keyFault(key)
      if (fault !== undefined) throw invalid(`jwks.keys[${at}]`, fault)
      return Object.fromEntries(Object.entries(key).filter(([name]) => MEMBERS.includes(name)))
    }),
  }
}

type Key = PublicKeys['keys'][number]

function keyFault(key: Key): string | undefined {
  if (JSON.stringify(key).length > MAX_KEY_LENGTH) {
    return `is longer than ${MAX_KEY_LENGTH} characters`
  }
  if (PRIVATE_MEMBERS.some((name) => name in key)) {
    return 'has private parts: keep them to yourself, and give the public key alone'
  }
  if (key['use'] !== undefined && key['use'] !== 'sig') return 'is not for signatures (use)'
  try {
    return strengthFault(createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails, key)
  } catch {
    return 'is no public key of RFC 7517'
  }
}

function strengthFault(
  details: { readonly modulusLength?: number } | undefined,
  { kty, crv }: Key,
): string | undefined {
  if (kty === 'RSA') {
    const bits = details?.modulusLength ?? 0
    return bits < MIN_RSA_BITS || bits > MAX_RSA_BITS
      ? `has ${bits} bits: RSA takes ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`
      : undefined
  }
  return crv === 'P-256' || crv === 'Ed25519'
    ? undefined
    : 'is of none of the kinds RSA, P-256 and Ed25519'
}
