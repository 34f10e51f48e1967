import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '#context'
import type { CsrfSession } from '#http/oidc/csrf.ts'
import type { Pool } from '#identity/pools/model.ts'
import { newTotpSecret } from '#identity/second-factors/totp.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

const LIFETIME_MS = 3_600_000
const MAX_LENGTH = 500

const Sealed = Type.Object({ secret: Type.String(), expiresAtMs: Type.Number() })

/** Whose app is being set up, and in which browser. */
interface SetupOwner {
  readonly pool: Pick<Pool, 'issuer'>
  readonly sub: string
  readonly csrf: Pick<CsrfSession, 'secret'>
}

/** The secret of an app, with the form that proves it. */
export interface SetupSecret {
  readonly secret: string
  readonly sealed: string
}

/** Nothing is stored before the first code was right: the form carries the secret, sealed for an hour, one account and one browser. */
export class SetupSecrets {
  readonly #key: Uint8Array
  readonly #clock: AppContext['clock']

  constructor({ sealer, clock }: Pick<AppContext, 'sealer' | 'clock'>) {
    this.#key = sealer.derive('second-factor-setup')
    this.#clock = clock
  }

  /** That of a form that was sent, while it is good; else a new one. */
  of(owner: SetupOwner, sent: string | null): SetupSecret {
    const secret = this.open(owner, sent) ?? newTotpSecret()
    const content: Static<typeof Sealed> = {
      secret,
      expiresAtMs: this.#clock.now().getTime() + LIFETIME_MS,
    }
    const sealed = encrypt(this.#key, contextOf(owner), Buffer.from(JSON.stringify(content)))
    return { secret, sealed: sealed.toString('base64url') }
  }

  /** Undefined for one of another account or browser, and for one that was changed or has expired. */
  open(owner: SetupOwner, sent: string | null): string | undefined {
    if (sent === null || sent.length > MAX_LENGTH) return undefined
    const opened = decrypt(this.#key, contextOf(owner), Buffer.from(sent, 'base64url'))
    const content: unknown = opened && JSON.parse(opened.toString())
    if (!Value.Check(Sealed, content)) return undefined
    return content.expiresAtMs > this.#clock.now().getTime() ? content.secret : undefined
  }
}

const contextOf = ({ pool, sub, csrf }: SetupOwner): string =>
  `${pool.issuer}\n${sub}\n${csrf.secret}`
