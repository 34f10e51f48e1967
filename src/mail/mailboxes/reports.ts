import { notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { type MailboxReport, mailboxOf } from './model.ts'
import { type ReportedMailbox, selectReports } from './queries.ts'

/** Mailboxes as the operator sees them: with the addresses of their owners, settings and usage. */
export class MailboxReports {
  readonly #database: Database

  constructor(deps: { readonly database: Database }) {
    this.#database = deps.database
  }

  /** By address. */
  async list(site: Site, page: PageRequest): Promise<PageRows<MailboxReport>> {
    const rows = await this.#database.withSite(site.siteId, (tx) => selectReports(tx, {}, page))
    const { items, lastKey } = pageRows(rows, page.limit, ({ localPart }) => localPart)
    return { items: items.map((row) => reportOf(site, row)), lastKey }
  }

  /** 404 `MailboxNotFound`. */
  async get(site: Site, address: string): Promise<MailboxReport> {
    const localPart = localPartAt(site.domain, address)
    if (localPart === undefined) throw notFound('Mailbox', address)
    const [row] = await this.#database.withSite(site.siteId, (tx) =>
      selectReports(tx, { localPart }, { limit: 1, after: undefined }),
    )
    if (!row) throw notFound('Mailbox', address)
    return reportOf(site, row)
  }
}

function reportOf(site: Site, row: ReportedMailbox): MailboxReport {
  const { ownerEmails, trashAutoPurge, trashRetentionDays, quotaBytes, quotaMessages, usage } = row
  return {
    ...mailboxOf(site, row),
    ownerEmails,
    trashAutoPurge,
    trashRetentionDays,
    quotaBytes,
    quotaMessages,
    usage,
  }
}
