import { createHmac, hkdfSync, randomBytes } from 'node:crypto'

import { isSameText } from '#base/same-text.ts'

import { GROUP_BYTES, K, N, signedBytesOf, numberOf, sha256 } from './group.ts'
import type { NetworkPowers } from './modular-powers.ts'

const HKDF_INFO = 'Caldera Derived Key'
const SESSION_KEY_BYTES = 16
const EXPONENT_BYTES = 32
const PUBLIC_HEX = new RegExp(`^[0-9a-f]{1,${GROUP_BYTES * 2}}$`, 'i')

/** What both sides know once the challenge is out: the client's public value, the server's, and the server's secret. */
export interface SrpExchange {
  readonly clientPublic: bigint
  readonly serverPublic: bigint
  readonly serverSecret: bigint
}

/** What a client says to prove that it derived the same key. */
export interface SrpClaim {
  readonly poolName: string
  readonly userId: string
  readonly secretBlock: Uint8Array
  readonly timestamp: string
}

/** `SRP_A`. Undefined when it is no number, or one that fixes the key without the password (RFC 5054, 2.5.4). */
export function clientPublicOf(hex: string): bigint | undefined {
  if (!PUBLIC_HEX.test(hex)) return undefined
  const number = BigInt(`0x${hex}`)
  return number > 0n && number < N ? number : undefined
}

/** Cognito's pool id without the region, as clients hash it. */
export const poolNameOf = (userPoolId: string): string =>
  userPoolId.slice(userPoolId.indexOf('_') + 1)

/** Derives `x` from a password, which the server sees once, when it is set. */
export const privateKeyOf = (
  salt: Uint8Array,
  user: { readonly poolName: string; readonly userId: string; readonly password: string },
): bigint =>
  numberOf(
    sha256(
      signedBytesOf(numberOf(salt)),
      sha256(Buffer.from(`${user.poolName}${user.userId}:${user.password}`)),
    ),
  )

/** `B = k·v + g^b`. */
export async function openExchange(
  powers: NetworkPowers,
  clientPublic: bigint,
  verifier: bigint,
): Promise<SrpExchange> {
  const serverSecret = numberOf(randomBytes(EXPONENT_BYTES))
  const serverPublic = (K * verifier + (await powers.raiseGenerator(serverSecret))) % N
  return { clientPublic, serverPublic, serverSecret }
}

/** HKDF of `S = (A·v^u)^b`. Undefined when `u` is zero, which a sound hash never gives. */
export async function sessionKeyOf(
  powers: NetworkPowers,
  { clientPublic, serverPublic, serverSecret }: SrpExchange,
  verifier: bigint,
): Promise<Buffer | undefined> {
  const scramble = numberOf(sha256(signedBytesOf(clientPublic), signedBytesOf(serverPublic)))
  if (scramble === 0n) return undefined
  const base = (clientPublic * (await powers.raise(verifier, scramble))) % N
  const secret = await powers.raise(base, serverSecret)
  return Buffer.from(
    hkdfSync(
      'sha256',
      signedBytesOf(secret),
      signedBytesOf(scramble),
      HKDF_INFO,
      SESSION_KEY_BYTES,
    ),
  )
}

/** Whether the signature proves the key. In constant time, whatever the claim. */
export function proves(key: Uint8Array, claim: SrpClaim, signature: string): boolean {
  const expected = createHmac('sha256', key)
    .update(claim.poolName)
    .update(claim.userId)
    .update(claim.secretBlock)
    .update(claim.timestamp)
    .digest('base64')
  return isSameText(expected, signature)
}
