import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '#context'
import type { Pool } from '#identity/pools/model.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'
import { siteBaseUrl } from '#sites/base-url.ts'

const LIFETIME_MS = 5 * 60_000
const MAX_LENGTH = 12_000

/** The parameter that carries it. */
export const FORMER_LOGOUT = 'next'

/** Where a browser goes whose sign-in has ended. */
const FormerLogout = Type.Object({
  /** To the client, at last; null for a page that says so. */
  location: Type.Union([Type.String(), Type.Null()]),
  /** Where it may have signed in before, and is led first. */
  names: Type.Array(Type.String()),
})
export type FormerLogout = Static<typeof FormerLogout>

/** Leads browsers from name to name, sealed: no link of others ends a sign-in, or leads anywhere. */
export class FormerLogouts {
  readonly #seal: ExpiringSeal<typeof FormerLogout>
  readonly #baseUrl: string

  constructor({ sealer, clock, config }: Pick<AppContext, 'sealer' | 'clock' | 'config'>) {
    const bounds = { lifetimeMs: LIFETIME_MS, maxLength: MAX_LENGTH }
    const key = sealer.derive('former-logouts')
    this.#seal = new ExpiringSeal({ key, clock, fields: FormerLogout, ...bounds })
    this.#baseUrl = config.baseUrl
  }

  /** The URL that ends the sign-in on one name, and then leads on. */
  url({ issuer, userPoolId }: Pool, name: string, next: FormerLogout): string {
    const path = `${new URL(issuer).pathname}/logout/former`
    const query = new URLSearchParams({ [FORMER_LOGOUT]: this.#seal.seal(userPoolId, next) })
    return `${siteBaseUrl(this.#baseUrl, name)}${path}?${query.toString()}`
  }

  /** Undefined for what is changed, expired, or of another pool. */
  open({ userPoolId }: Pool, text: string | null): FormerLogout | undefined {
    return text === null ? undefined : this.#seal.open(userPoolId, text)
  }
}
