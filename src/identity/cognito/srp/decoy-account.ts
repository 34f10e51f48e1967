import { randomBytes } from 'node:crypto'

import type { SrpVerifier } from '#identity/passwords/srp-verifiers.ts'
import type { Sealer, WrappedSiteKey } from '#platform/seal/sealer.ts'

import { GROUP_BYTES } from './group.ts'

const CONTEXT = 'srp-nobody'
const SALT_BYTES = 16

/** Takes the place of an account that is not there: what is read and opened of an account is read and opened of it. */
export class SrpDecoyAccount {
  /** No account has this `sub`. */
  readonly sub = 'nobody'
  readonly sealedSrp: Buffer
  readonly #sealer: Sealer
  readonly #key: WrappedSiteKey

  constructor(deps: { readonly sealer: Sealer }) {
    this.#sealer = deps.sealer
    this.#key = { siteId: CONTEXT, wrappedKey: deps.sealer.newSiteKey(CONTEXT) }
    const bytes = randomBytes(1 + SALT_BYTES + GROUP_BYTES)
    this.sealedSrp = deps.sealer.seal(this.#key, CONTEXT, bytes)
  }

  opened(sealedSrp: Buffer): SrpVerifier {
    const bytes = this.#sealer.open(this.#key, CONTEXT, sealedSrp)
    return { salt: bytes.subarray(1, 1 + SALT_BYTES), verifier: bytes.subarray(1 + SALT_BYTES) }
  }
}
