import { Type } from '@sinclair/typebox'

import type { AppContext } from '#context'
import type { CsrfSession } from '#http/oidc/csrf.ts'
import type { Pool } from '#identity/pools/model.ts'
import { newTotpSecret } from '#identity/second-factors/totp.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'

const LIFETIME_MS = 3_600_000
const MAX_LENGTH = 500

const Content = Type.Object({ secret: Type.String() })

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
  readonly #seal: ExpiringSeal<typeof Content>

  constructor({ sealer, clock }: Pick<AppContext, 'sealer' | 'clock'>) {
    const key = sealer.derive('second-factor-setup')
    const bounds = { lifetimeMs: LIFETIME_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields: Content, ...bounds })
  }

  /** That of a form that was sent, while it is good; else a new one. */
  of(owner: SetupOwner, sent: string | null): SetupSecret {
    const secret = this.open(owner, sent) ?? newTotpSecret()
    return { secret, sealed: this.#seal.seal(contextOf(owner), { secret }) }
  }

  /** Undefined for one of another account or browser, and for one that was changed or has expired. */
  open(owner: SetupOwner, sent: string | null): string | undefined {
    return this.#seal.open(contextOf(owner), sent ?? '')?.secret
  }
}

const contextOf = ({ pool, sub, csrf }: SetupOwner): string =>
  `${pool.issuer}\n${sub}\n${csrf.secret}`
