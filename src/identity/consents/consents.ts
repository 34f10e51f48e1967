import { notFound } from '#base/app-error.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import { scopesOf } from '#identity/pools/scopes.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { TokenFamilies } from '#identity/sessions/families.ts'
import type { SignInCodes } from '#identity/sessions/model.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { deleteConsent, lockConsent, selectConsents, upsertConsent } from './queries.ts'

/** An application of others that a user has let in. */
export interface ConsentedClient {
  readonly clientId: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly grantedAt: Date
}

/** As much of a client's request as it is about. */
interface ConsentRequest {
  readonly pool: Pool
  readonly client: Client
  /** Space-separated. */
  readonly scope: string
  readonly prompts: ReadonlySet<string>
}

/** What users let applications of others learn of them. The site's own are not asked about. */
export class Consents {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly families: TokenFamilies
      readonly codes: SignInCodes
      readonly events: SecurityEvents
    },
  ) {
    this.#deps = deps
  }

  /** Whether the user has to be asked: never before, for more than before, or because the client wants it (`prompt=consent`). */
  async isNeeded(tx: SiteTx, request: ConsentRequest, sub: string): Promise<boolean> {
    const { client, pool, prompts } = request
    if (client.application?.isThirdParty !== true) return false
    if (prompts.has('consent')) return true
    const user = { userPoolId: pool.userPoolId, sub }
    const given = scopesOf((await lockConsent(tx, user, client.clientId))?.scope ?? '')
    return scopesOf(request.scope).some((scope) => !given.includes(scope))
  }

  /** Adds to what the user agreed to before. */
  async give(tx: SiteTx, { pool, client, scope }: ConsentRequest, sub: string): Promise<void> {
    const user = { userPoolId: pool.userPoolId, sub }
    const before = await lockConsent(tx, user, client.clientId)
    const scopes = new Set([...scopesOf(before?.scope ?? ''), ...scopesOf(scope)])
    await upsertConsent(tx, user, {
      clientId: client.clientId,
      scope: [...scopes].join(' '),
      grantedAt: this.#deps.clock.now(),
    })
    await this.#deps.events.record(tx, {
      event: 'consent.given',
      pool: pool.kind,
      sub,
      clientId: client.clientId,
      detail: { name: client.application?.name ?? '', scope },
    })
  }

  /** The newest first. */
  async list(
    { site, pool }: Pick<PoolRequest, 'site' | 'pool'>,
    sub: string,
  ): Promise<ConsentedClient[]> {
    const user = { userPoolId: pool.userPoolId, sub }
    const rows = await this.#deps.database.withSite(site.siteId, (tx) => selectConsents(tx, user))
    return rows.map(({ clientId, scope, grantedAt }) => ({
      clientId,
      name: pool.clients.get(clientId)?.application?.name ?? clientId,
      scopes: scopesOf(scope),
      grantedAt,
    }))
  }

  /** The application is signed out, and asks again when it comes back. 404 `ClientNotFound` for one without consent. */
  async withdraw(
    { site, pool, origin }: PoolRequest,
    sub: string,
    clientId: string,
  ): Promise<void> {
    const user: UserKey = { userPoolId: pool.userPoolId, sub }
    const { database, codes, families, events } = this.#deps
    await database.withSite(site.siteId, async (tx) => {
      if (!(await deleteConsent(tx, user, clientId))) throw notFound('Client', clientId)
      // Codes first: that waits for exchanges in flight, whose families are then found and ended.
      await codes.endByClient(tx, user, clientId)
      await families.endByClient(tx, user, clientId)
      const event = { event: 'consent.withdrawn', pool: pool.kind, sub, clientId, origin } as const
      await events.record(tx, event)
    })
  }
}
