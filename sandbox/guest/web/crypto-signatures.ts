import type { Algorithm } from './crypto-algorithms.ts'
import { hostBytes, hostText } from './crypto-host.ts'
import type { KeyMaterial } from './crypto-key.ts'
import { mac } from './crypto-secret-keys.ts'
import { type Bytes, invalidAccess, notSupported } from './crypto-values.ts'

export interface Claim {
  readonly claimed: Bytes
  readonly data: Bytes
}

export function signature(algorithm: Algorithm, key: KeyMaterial, data: Bytes): Bytes {
  if (algorithm.name === 'HMAC') return mac(key, data)
  if (key.type !== 'private') throw invalidAccess('Only a private key can sign.')
  return hostBytes('sign', schemeOf(algorithm, key), [key.bytes, data])
}

export function verified(
  algorithm: Algorithm,
  key: KeyMaterial,
  { claimed, data }: Claim,
): boolean {
  if (algorithm.name === 'HMAC') return isSame(mac(key, data), claimed)
  if (key.type !== 'public') throw invalidAccess('Only a public key can verify.')
  return hostText('verify', schemeOf(algorithm, key), [key.bytes, claimed, data]) === 'true'
}

function schemeOf(
  { name, hash, saltLength, context }: Algorithm,
  { algorithm }: KeyMaterial,
): object {
  if (context && context.length > 0)
    throw notSupported('A context is not supported for Ed448 here.')
  return { __proto__: null, scheme: name, hash: hash ?? algorithm.hash, saltLength }
}

/** In constant time for those of the same length. */
function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index++)
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0)
  return difference === 0
}
