import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'

import { calculateJwkThumbprint } from 'jose'

import type { PublicJwk } from './model.ts'

const MODULUS_BITS = 2048
const generate = promisify(generateKeyPair)

export interface NewKeyPair {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  readonly publicJwk: PublicJwk
  /** PKCS #8, DER. Seal it, then forget it. */
  readonly privateKey: Buffer
}

/**
 * A fresh RS256 pair, made on the thread pool. WebCrypto's `generateKey` would do it on Bun's event loop, a few dozen
 * milliseconds during which no request is answered.
 */
export async function newKeyPair(): Promise<NewKeyPair> {
  const pair = await generate('rsa', { modulusLength: MODULUS_BITS })
  const { n, e } = pair.publicKey.export({ format: 'jwk' })
  if (n === undefined || e === undefined) throw new Error('The new key is not an RSA key')
  const publicJwk: PublicJwk = { kty: 'RSA', n, e }
  return {
    kid: await calculateJwkThumbprint(publicJwk),
    publicJwk,
    privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }),
  }
}
