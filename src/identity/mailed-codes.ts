import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'

import type { Sealer } from '#platform/seal/sealer.ts'

/** After this many tries a code is dead, for the right one too. */
export const MAX_CODE_ATTEMPTS = 5
export const VERIFICATION_LIFETIME_MS = 24 * 60 * 60 * 1000
export const RESET_LIFETIME_MS = 60 * 60 * 1000
export const PROOF_LIFETIME_MS = 15 * 60 * 1000

const DIGITS = 6
const SHAPE = /^\d{6}$/
/** The hash of no code: comparing with it costs a missing code what a wrong one costs. */
const NO_HASH = Buffer.alloc(32)

/** What a code is good for; the code of one thing is not that of another. */
export interface CodeScope {
  readonly siteId: string
  readonly userPoolId: string
  readonly purpose: 'sign-up' | 'reset' | 'proof' | 'address'
  /** `registrationId` or `sub`; with what else it is of: a proof's action and sign-in, or the new address. */
  readonly id: string
}

/** Six digits that are mailed. A million guesses find any of them, so what is stored is keyed. */
export class MailedCodes {
  readonly #key: Buffer

  constructor(deps: { sealer: Pick<Sealer, 'derive'> }) {
    this.#key = deps.sealer.derive('mailed-codes')
  }

  create(): string {
    return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0')
  }

  hash({ siteId, userPoolId, purpose, id }: CodeScope, code: string): Buffer {
    const text = JSON.stringify([siteId, userPoolId, purpose, id, code])
    return createHmac('sha256', this.#key).update(text).digest()
  }

  /** Spaces in what was typed do not count. */
  matches(stored: Buffer | null | undefined, scope: CodeScope, typed: string): boolean {
    const code = typed.slice(0, 64).replaceAll(/\s/g, '')
    const same = timingSafeEqual(stored ?? NO_HASH, this.hash(scope, code))
    return same && SHAPE.test(code)
  }
}
