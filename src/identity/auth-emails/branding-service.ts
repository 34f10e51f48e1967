import type { UserActor } from '#base/actor.ts'
import type { Clock } from '#base/clock.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import {
  type Branding,
  type BrandingChange,
  type Brandings,
  MESSAGE_TYPES,
  type MessageType,
  assertBranding,
} from './branding.ts'
import { deleteBranding, selectBrandings, upsertBranding } from './queries.ts'

/** A site's own subjects and HTML for the codes that its pools mail. */
export class AuthEmailBranding {
  readonly #database: Database
  readonly #clock: Clock
  readonly #events: SecurityEvents

  constructor(deps: { database: Database; clock: Clock; events: SecurityEvents }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#events = deps.events
  }

  get(siteId: string): Promise<Brandings> {
    return this.#database.withSite(siteId, brandingsOf)
  }

  /** All of the change, or nothing of it. Gives what holds from now on. */
  change(siteId: string, by: UserActor, change: BrandingChange): Promise<Brandings> {
    const named = MESSAGE_TYPES.flatMap((type) => {
      const branding = change[type]
      return branding === undefined ? [] : [{ type, branding }]
    })
    for (const { type, branding } of named) if (branding) assertBranding(type, branding)
    return this.#database.withSite(siteId, async (tx) => {
      for (const { type, branding } of named) await this.#set(tx, by, type, branding)
      return brandingsOf(tx)
    })
  }

  async #set(
    tx: SiteTx,
    by: UserActor,
    type: MessageType,
    branding: Branding | null,
  ): Promise<void> {
    if (branding === null) await deleteBranding(tx, type)
    else await upsertBranding(tx, { messageType: type, ...branding }, this.#clock.now())
    await this.#events.record(tx, {
      event: 'branding.changed',
      pool: type === 'adminVerificationEmail' ? 'admin' : 'data',
      by,
      detail: { messageType: type, cleared: branding === null },
    })
  }
}

async function brandingsOf(tx: SiteTx): Promise<Brandings> {
  const rows = await selectBrandings(tx)
  const of = (type: MessageType): Branding | null => {
    const row = rows.find(({ messageType }) => messageType === type)
    return row ? { subject: row.subject, htmlBody: row.htmlBody } : null
  }
  return {
    adminVerificationEmail: of('adminVerificationEmail'),
    dataVerificationEmail: of('dataVerificationEmail'),
  }
}
