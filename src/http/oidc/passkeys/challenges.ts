import { randomBytes } from 'node:crypto'

import { Type } from '@sinclair/typebox'

import type { AppContext } from '#context'
import type { CsrfSession } from '#http/oidc/csrf.ts'
import { CHALLENGE_MS } from '#identity/passkeys/model.ts'
import type { Pool } from '#identity/pools/model.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'

const MAX_LENGTH = 500
const CHALLENGE_BYTES = 32

const Content = Type.Object({ challenge: Type.String() })

/** For what a challenge is, and in which browser. `sub` is that of the user who adds a key. */
interface ChallengeUse {
  readonly pool: Pick<Pool, 'issuer'>
  readonly csrf: Pick<CsrfSession, 'secret'>
  readonly sub?: string
}

/** What a device signs, with the sealed form in which it comes back: for one browser and one use; nothing is stored before it comes back. */
export class PasskeyChallenges {
  readonly #seal: ExpiringSeal<typeof Content>

  constructor({ sealer, clock }: Pick<AppContext, 'sealer' | 'clock'>) {
    const key = sealer.derive('passkey-challenges')
    const bounds = { lifetimeMs: CHALLENGE_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: Content, ...bounds })
  }

  create(use: ChallengeUse): { readonly challenge: string; readonly sealed: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    return { challenge, sealed: this.#seal.seal(contextOf(use), { challenge }) }
  }

  /** Undefined for one of another browser or use, and for one that was changed or has expired. */
  open(use: ChallengeUse, sealed: string | null): string | undefined {
    return this.#seal.open(contextOf(use), sealed ?? '')?.challenge
  }
}

const contextOf = ({ pool, csrf, sub = '' }: ChallengeUse): string =>
  `${pool.issuer}\n${sub}\n${csrf.secret}`
