import { randomBytes } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '#context'
import type { CsrfSession } from '#http/oidc/csrf.ts'
import type { Pool } from '#identity/pools/model.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

/** As long as a page may lie open before its button is pressed. */
const LIFETIME_MS = 3_600_000
const MAX_LENGTH = 500
const CHALLENGE_BYTES = 32

const Sealed = Type.Object({ challenge: Type.String(), expiresAtMs: Type.Number() })

/** For what a challenge is, and in which browser. `sub` is that of whoever adds a key. */
interface ChallengeUse {
  readonly pool: Pick<Pool, 'issuer'>
  readonly csrf: Pick<CsrfSession, 'secret'>
  readonly sub?: string
}

/** What a device signs, with the sealed form in which it comes back: for one browser and one use; nothing is stored. */
export class PasskeyChallenges {
  readonly #key: Uint8Array
  readonly #clock: AppContext['clock']

  constructor({ sealer, clock }: Pick<AppContext, 'sealer' | 'clock'>) {
    this.#key = sealer.derive('passkey-challenges')
    this.#clock = clock
  }

  create(use: ChallengeUse): { readonly challenge: string; readonly sealed: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    const expiresAtMs = this.#clock.now().getTime() + LIFETIME_MS
    const content: Static<typeof Sealed> = { challenge, expiresAtMs }
    const sealed = encrypt(this.#key, contextOf(use), Buffer.from(JSON.stringify(content)))
    return { challenge, sealed: sealed.toString('base64url') }
  }

  /** Empty, which nobody has signed, for one of another browser or use, and for one that was changed or has expired. */
  open(use: ChallengeUse, sealed: string | null): string {
    if (sealed === null || sealed.length > MAX_LENGTH) return ''
    const opened = decrypt(this.#key, contextOf(use), Buffer.from(sealed, 'base64url'))
    const content: unknown = opened && JSON.parse(opened.toString())
    if (!Value.Check(Sealed, content)) return ''
    return content.expiresAtMs > this.#clock.now().getTime() ? content.challenge : ''
  }
}

const contextOf = ({ pool, csrf, sub = '' }: ChallengeUse): string =>
  `${pool.issuer}\n${sub}\n${csrf.secret}`
