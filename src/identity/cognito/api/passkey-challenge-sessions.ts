import { createHmac, randomBytes } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import { isSameText } from '#base/same-text.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import { SESSION_MS, SessionSeal, poolContext } from './session-seal.ts'

const CHALLENGE_BYTES = 32
/** At the beginning of a challenge for a new key, which is its own proof. */
const NONCE_BYTES = 12

const PasskeySession = Type.Object({
  clientId: Type.String(),
  email: Type.String(),
  challenge: Type.String(),
})
type PasskeySession = Static<typeof PasskeySession>

/** Who adds a key, in which sign-in. */
interface NewKeyOwner {
  readonly sub: string
  readonly signIn: string
}

/** Challenges that devices sign. The client holds those of sign-ins, sealed; those for new keys prove themselves. */
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

  /** For a new key of an account: to start and to complete it are two requests, between which nothing is kept. */
  forNewKey(call: PoolRequest, of: NewKeyOwner): string {
    const nonce = randomBytes(NONCE_BYTES)
    return this.#signed(call, of, { nonce, turn: this.#turn() }).toString('base64url')
  }

  /** Whether it was given for that, a turn ago at most. */
  isForNewKey(call: PoolRequest, of: NewKeyOwner, challenge: string): boolean {
    const nonce = Buffer.from(challenge, 'base64url').subarray(0, NONCE_BYTES)
    return [this.#turn(), this.#turn() - 1].some((turn) =>
      isSameText(this.#signed(call, of, { nonce, turn }).toString('base64url'), challenge),
    )
  }

  #turn(): number {
    return Math.floor(this.#clock.now().getTime() / SESSION_MS)
  }

  #signed(
    call: PoolRequest,
    { sub, signIn }: NewKeyOwner,
    { nonce, turn }: { readonly nonce: Buffer; readonly turn: number },
  ): Buffer {
    const text = [poolContext(call), sub, signIn, turn, nonce.toString('base64url')].join('\n')
    const signature = createHmac('sha256', this.#newKeys).update(text).digest()
    return Buffer.concat([nonce, signature]).subarray(0, CHALLENGE_BYTES)
  }
}
