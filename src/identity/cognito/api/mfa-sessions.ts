import { createHmac } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { totpSecretOf } from '#identity/second-factors/totp.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import { SessionSeal } from './session-seal.ts'

/** How long an app may take between its secret and its first code; a secret is good for up to twice as long. */
const SETUP_MS = 3_600_000

const MfaSession = Type.Object({
  clientId: Type.String(),
  sub: Type.String(),
  method: Type.Union([Type.Literal('password'), Type.Literal('srp')]),
  authTimeMs: Type.Number(),
  /** Whether the app that this session was to set up has been. */
  isSetUp: Type.Boolean(),
})
export type MfaSession = Static<typeof MfaSession>

/** Sign-ins that wait for their second step. The client holds them, sealed: nothing is stored, and any replica goes on. */
export class MfaSessions {
  readonly #seal: SessionSeal<typeof MfaSession>
  readonly #setupKey: Buffer
  readonly #clock: Clock

  constructor(deps: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    this.#seal = new SessionSeal(deps, 'cognito-mfa-sessions', MfaSession)
    this.#setupKey = deps.sealer.derive('cognito-mfa-setup')
    this.#clock = deps.clock
  }

  seal(call: PoolRequest, session: MfaSession): string {
    return this.#seal.seal(call, session)
  }

  /** Undefined for a session of another pool, and for one that was changed or has expired. */
  open(call: PoolRequest, sealed: string): MfaSession | undefined {
    return this.#seal.open(call, sealed)
  }

  /**
   * The secrets that an app of this account may be set up with, the newest first: what is asked for and what is proven are two
   * requests, between which nothing is kept.
   */
  setupSecrets(
    { site, pool }: PoolRequest,
    of: { sub: string; signIn: string },
  ): readonly string[] {
    const hour = Math.floor(this.#clock.now().getTime() / SETUP_MS)
    return [hour, hour - 1].map((each) => {
      const text = [site.siteId, pool.userPoolId, of.sub, of.signIn, each].join('\n')
      return totpSecretOf(createHmac('sha256', this.#setupKey).update(text).digest())
    })
  }
}
