import { createHmac, randomBytes } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

/** As long as Cognito's own by default. */
const LIFETIME_MS = 3 * 60_000
const MAX_LENGTH = 2048
const CHALLENGE_BYTES = 32

const PasskeySession = Type.Object({
  clientId: Type.String(),
  email: Type.String(),
  challenge: Type.String(),
})
type PasskeySession = Static<typeof PasskeySession>

/** Challenges that devices sign. The client holds those of sign-ins, sealed; those for new keys are worked out anew. */
export class PasskeyChallengeSessions {
  readonly #seal: ExpiringSeal<typeof PasskeySession>
  readonly #newKeys: Buffer
  readonly #clock: Clock

  constructor({ sealer, clock }: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    const key = sealer.derive('cognito-passkey-sessions')
    const bounds = { lifetimeMs: LIFETIME_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: PasskeySession, ...bounds })
    this.#newKeys = sealer.derive('cognito-new-passkeys')
    this.#clock = clock
  }

  seal(
    call: PoolRequest,
    who: Omit<PasskeySession, 'challenge'>,
  ): { readonly challenge: string; readonly Session: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    return { challenge, Session: this.#seal.seal(contextOf(call), { ...who, challenge }) }
  }

  /** Undefined for a session of another pool, and for one that was changed or has expired. */
  open(call: PoolRequest, sealed: string): PasskeySession | undefined {
    return this.#seal.open(contextOf(call), sealed)
  }

  /**
   * For a new key of an account, the newest first: to start and to complete it are two requests, between which nothing is kept. A
   * key is added once, whatever challenge it was made for.
   */
  forNewKey(call: PoolRequest, of: { sub: string; signIn: string }): readonly string[] {
    const turn = Math.floor(this.#clock.now().getTime() / LIFETIME_MS)
    return [turn, turn - 1].map((each) =>
      createHmac('sha256', this.#newKeys)
        .update([contextOf(call), of.sub, of.signIn, each].join('\n'))
        .digest('base64url'),
    )
  }
}

const contextOf = ({ site, pool }: PoolRequest): string => `${site.siteId} ${pool.userPoolId}`
