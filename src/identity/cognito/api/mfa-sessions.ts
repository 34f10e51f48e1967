import { createHmac } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { totpSecretOf } from '#identity/second-factors/totp.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

/** As long as Cognito's own by default. */
const LIFETIME_MS = 3 * 60_000
const MAX_LENGTH = 2048
/** How long an app may take between its secret and its first code; a secret is good for up to twice as long. */
const SETUP_MS = 3_600_000

const MfaSession = Type.Object({
  clientId: Type.String(),
  sub: Type.String(),
  method: Type.Union([Type.Literal('password'), Type.Literal('srp')]),
  authTimeMs: Type.Number(),
  /** Whether the app that this session was to set up has been. */
  isSetUp: Type.Boolean(),
  expiresAtMs: Type.Number(),
})
export type MfaSession = Omit<Static<typeof MfaSession>, 'expiresAtMs'>

/** Sign-ins that wait for their second step. The client holds them, sealed: nothing is stored, and any replica goes on. */
export class MfaSessions {
  readonly #key: Buffer
  readonly #setupKey: Buffer
  readonly #clock: Clock

  constructor(deps: { sealer: Pick<Sealer, 'derive'>; clock: Clock }) {
    this.#key = deps.sealer.derive('cognito-mfa-sessions')
    this.#setupKey = deps.sealer.derive('cognito-mfa-setup')
    this.#clock = deps.clock
  }

  seal(call: PoolRequest, session: MfaSession): string {
    const expiresAtMs = this.#clock.now().getTime() + LIFETIME_MS
    const content: Static<typeof MfaSession> = { ...session, expiresAtMs }
    const bytes = Buffer.from(JSON.stringify(content))
    return encrypt(this.#key, contextOf(call), bytes).toString('base64url')
  }

  /** Undefined for a session of another pool, and for one that was changed or has expired. */
  open(call: PoolRequest, sealed: string): MfaSession | undefined {
    if (sealed.length > MAX_LENGTH) return undefined
    const opened = decrypt(this.#key, contextOf(call), Buffer.from(sealed, 'base64url'))
    const content: unknown = opened && JSON.parse(opened.toString())
    if (!Value.Check(MfaSession, content)) return undefined
    return content.expiresAtMs > this.#clock.now().getTime() ? content : undefined
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

const contextOf = ({ site, pool }: PoolRequest): string => `${site.siteId} ${pool.userPoolId}`
