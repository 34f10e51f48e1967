import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

import type { SrpSecret, SrpVerifier, SrpVerifiers } from '#identity/passwords/srp-verifiers.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import { poolNameOf, privateKeyOf } from './exchange.ts'
import { GROUP_BYTES, N, signedBytesOf, numberOf } from './group.ts'
import type { ModularPowers } from './modular-powers.ts'

const SALT_BYTES = 16

/**
 * Verifiers of accounts, and of those that do not exist. A salt follows from the address alone: it is the same before there is an
 * account, after a new password, and when the account is gone, so that repeated requests reveal nothing.
 */
export class AddressVerifiers implements SrpVerifiers {
  readonly #saltKey: Buffer
  readonly #decoyKey: Buffer
  readonly #powers: ModularPowers

  constructor(deps: { sealer: Pick<Sealer, 'derive'>; powers: ModularPowers }) {
    this.#saltKey = deps.sealer.derive('srp-salts')
    this.#decoyKey = deps.sealer.derive('srp-decoys')
    this.#powers = deps.powers
  }

  async derive(userPoolId: string, { email, password, address }: SrpSecret): Promise<SrpVerifier> {
    const salt = this.saltOf(userPoolId, email)
    const user = { poolName: poolNameOf(userPoolId), userId: email, password }
    const verifier = await this.#powers.from(address).raiseGenerator(privateKeyOf(salt, user))
    return { salt, verifier: signedBytesOf(verifier) }
  }

  fits(verifier: SrpVerifier | undefined, userPoolId: string, email: string): boolean {
    const salt = this.saltOf(userPoolId, email)
    return verifier?.salt.length === salt.length && timingSafeEqual(verifier.salt, salt)
  }

  saltOf(userPoolId: string, email: string): Buffer {
    const digest = createHmac('sha256', this.#saltKey).update(`${userPoolId} ${email}`).digest()
    const salt = digest.subarray(0, SALT_BYTES)
    // As a number it has neither a zero in front nor a sign: some clients hash the digits, some the number.
    salt[0] = ((salt[0] ?? 0) & 0x3f) | 0x40
    return salt
  }

  /** The verifier for an address that has none: always the same, matched by no password, and a square like every real one. */
  decoyOf(userPoolId: string, email: string): bigint {
    const bytes = hkdfSync('sha256', this.#decoyKey, '', `${userPoolId} ${email}`, GROUP_BYTES)
    const root = numberOf(new Uint8Array(bytes)) % N
    return (root * root) % N
  }
}
