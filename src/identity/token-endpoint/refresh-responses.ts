import { hkdfSync } from 'node:crypto'

import { Type } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import type { TokenSet } from './model.ts'
import { insertRefreshResponse, selectRefreshResponse } from './queries.ts'

/** How long a refresh token that was used gets the same response again. */
const REPEAT_LIFETIME_MS = 10_000

const MAX_LENGTH = 64 * 1024

const Response = Type.Object({
  accessToken: Type.String(),
  idToken: Type.Optional(Type.String()),
  refreshToken: Type.String(),
  expiresInSeconds: Type.Number(),
  scope: Type.String(),
  familyId: Type.String(),
})

/** A use of a refresh token. */
export interface RefreshUse {
  readonly refreshToken: string
  readonly tokenHash: Buffer
  readonly familyId: string
  readonly clientId: string
  /** The scope of the response. */
  readonly scope: string
}

/**
 * Keeps the response to a refresh token for 10 seconds, so that two tabs that refresh at once, or a client that lost the
 * response, get the same tokens (RFC 9700 section 4.14.2 allows for it). Only the token itself opens what is stored.
 */
export class RefreshResponses {
  readonly #clock: Clock
  readonly #salt: Uint8Array

  constructor(deps: { readonly clock: Clock; readonly sealer: Pick<Sealer, 'derive'> }) {
    this.#clock = deps.clock
    this.#salt = deps.sealer.derive('refresh-responses')
  }

  /** In the transaction that uses up the token: a response that was lost can be asked for again. */
  async keep(tx: SiteTx, use: RefreshUse, { idToken, ...tokens }: TokenSet): Promise<void> {
    const now = this.#clock.now()
    await deleteExpired(tx, 'refresh_response', now)
    await insertRefreshResponse(tx, {
      tokenHash: use.tokenHash,
      familyId: use.familyId,
      sealed: this.#sealOf(use).seal(contextOf(tx, use), {
        ...tokens,
        ...(idToken !== undefined && { idToken }),
      }),
      expiresAt: new Date(now.getTime() + REPEAT_LIFETIME_MS),
    })
  }

  /** Undefined after 10 seconds, and for another client or scope. */
  async find(tx: SiteTx, use: RefreshUse): Promise<TokenSet | undefined> {
    const sealed = await selectRefreshResponse(tx, use.tokenHash, this.#clock.now())
    if (sealed === undefined) return undefined
    const tokens = this.#sealOf(use).open(contextOf(tx, use), sealed)
    return tokens && { idToken: undefined, ...tokens }
  }

  #sealOf({ refreshToken }: RefreshUse): ExpiringSeal<typeof Response> {
    return new ExpiringSeal({
      key: new Uint8Array(hkdfSync('sha256', refreshToken, this.#salt, 'refresh-response', 32)),
      clock: this.#clock,
      fields: Response,
      lifetimeMs: REPEAT_LIFETIME_MS,
      maxLength: MAX_LENGTH,
    })
  }
}

const contextOf = ({ siteId }: SiteTx, { clientId, scope }: RefreshUse): string =>
  `${siteId} ${clientId} ${scope}`
