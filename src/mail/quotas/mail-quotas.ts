import type { Database } from '#platform/postgres/database.ts'

import { type MailLimits, mailLimits } from './limits.ts'
import { selectUsage } from './queries.ts'

export interface SiteMailUsage {
  readonly usedBytes: number
  readonly usedMessages: number
  readonly limits: MailLimits
}

/** What the mailboxes of a site hold together, and may. */
export class MailQuotas {
  readonly #database: Database

  constructor(deps: { readonly database: Database }) {
    this.#database = deps.database
  }

  async usage(siteId: string): Promise<SiteMailUsage> {
    const row = await this.#database.withSite(siteId, selectUsage)
    return {
      usedBytes: Number(row.usedBytes ?? 0),
      usedMessages: Number(row.usedMessages ?? 0),
      limits: mailLimits(row.deploymentSettings),
    }
  }
}
