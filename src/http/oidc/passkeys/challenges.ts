import { randomBytes } from 'node:crypto'

import { Type } from '@sinclair/typebox'

import type { AppContext } from '#context'
import type { CsrfSession } from '#http/oidc/csrf.ts'
import type { Pool } from '#identity/pools/model.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'

/** As long as a page may lie open before its button is pressed. */
const LIFETIME_MS = 3_600_000
const MAX_LENGTH = 500
const CHALLENGE_BYTES = 32

const Content = Type.Object({ challenge: Type.String() })

/** For what a challenge is, and in which browser. `sub` is that of whoever adds a key. */
interface ChallengeUse {
  readonly pool: Pick<Pool, 'issuer'>
  readonly csrf: Pick<CsrfSession, 'secret'>
  readonly sub?: string
}

/** What a device signs, with the sealed form in which it comes back: for one browser and one use; nothing is stored. */
export class PasskeyChallenges {
  readonly #seal: ExpiringSeal<typeof Content>

  constructor({ sealer, clock }: Pick<AppContext, 'sealer' | 'clock'>) {
    const key = sealer.derive('passkey-challenges')
    const bounds = { lifetimeMs: LIFETIME_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: Content, ...bounds })
  }

  create(use: ChallengeUse): { readonly challenge: string; readonly sealed: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    return { challenge, sealed: this.#seal.seal(contextOf(use), { challenge }) }
  }

  /** Empty, which nobody has signed, for one of another browser or use, and for one that was changed or has expired. */
  open(use: ChallengeUse, sealed: string | null): string {
    return this.#seal.open(contextOf(use), sealed ?? '')?.challenge ?? ''
  }
}

const contextOf = ({ pool, csrf, sub = '' }: ChallengeUse): string =>
  `${pool.issuer}\n${sub}\n${csrf.secret}`
