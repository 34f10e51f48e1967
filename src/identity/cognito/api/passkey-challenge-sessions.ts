import { createHmac, randomBytes } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import { SESSION_MS, SessionSeal, poolContext } from './session-seal.ts'

const CHALLENGE_BYTES = 32

const PasskeySession = Type.Object({
  clientId: Type.String(),
  email: Type.String(),
  challenge: Type.String(),
})
type PasskeySession = Static<typeof PasskeySession>

/** Challenges that devices sign. The client holds those of sign-ins, sealed; those for new keys are worked out anew. */
export class PasskeyChallengeSessions {
  readonly #seal: SessionSeal<typeof PasskeySession>
  readonly #newKeys: Buffer
  readonly #clock: Clock

  constructor(deps: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    this.#seal = new SessionSeal(deps, 'cognito-passkey-sessions', PasskeySession)
    this.#newKeys = deps.sealer.derive('cognito-new-passkeys')
    this.#clock = deps.clock
  }

  seal(
    call: PoolRequest,
    who: Omit<PasskeySession, 'challenge'>,
  ): { readonly challenge: string; readonly Session: string } {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    return { challenge, Session: this.#seal.seal(call, { ...who, challenge }) }
  }

  /** Undefined for a session of another pool, and for one that was changed or has expired. */
  open(call: PoolRequest, sealed: string): PasskeySession | undefined {
    return this.#seal.open(call, sealed)
  }

  /**
   * For a new key of an account, the newest first: to start and to complete it are two requests, between which nothing is kept. A
   * key is added once, whatever challenge it was made for.
   */
  forNewKey(call: PoolRequest, of: { sub: string; signIn: string }): readonly string[] {
    const turn = Math.floor(this.#clock.now().getTime() / SESSION_MS)
    return [turn, turn - 1].map((each) =>
      createHmac('sha256', this.#newKeys)
        .update([poolContext(call), of.sub, of.signIn, each].join('\n'))
        .digest('base64url'),
    )
  }
}
