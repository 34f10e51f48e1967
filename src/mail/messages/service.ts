import { type Actor, atLeast } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import { type ChangedMailboxes, concerns } from '#mail/changes/streams.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import { searchWords } from '#mail/search/message-words.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type ReadableMailbox,
  selectReadableDetail,
  selectReadableMailboxes,
  selectReadableOf,
  selectRecipients,
} from './access-queries.ts'
import { markFound, searchedTexts } from './found-messages.ts'
import {
  type ListedRange,
  type ListedRow,
  selectFound,
  selectFoundAmongNewest,
  selectListed,
} from './list-queries.ts'
import type { MessageFilter } from './message-filter.ts'
import type { MessageDetail, MessageListItem } from './model.ts'
import { signedPartsOf } from './signed-parts.ts'
import { detailOf, listItemOf } from './view.ts'

/** Mailboxes whose lists are merged; with more of them an admin's list of all is read by time instead. */
const MERGED_MAILBOXES = 200

export interface MessagesDeps extends Pick<PlatformServices, 'objectUrls' | 'clock'> {
  readonly database: Pick<Database, 'withSite'>
}

export interface ListedMessages {
  /** One mailbox; left out: all that the reader may read. */
  readonly mailbox: string | undefined
  readonly filter: MessageFilter
}

/** The messages of a site's mailboxes, for those who may read them: to anyone else a message or mailbox does not exist. */
export class Messages {
  readonly #deps: MessagesDeps

  constructor(deps: MessagesDeps) {
    this.#deps = deps
  }

  /** Newest first. What a search has found is marked. */
  async list(
    site: Site,
    reader: Actor,
    { mailbox, filter }: ListedMessages,
    page: PageRequest,
  ): Promise<PageRows<MessageListItem>> {
    const { search } = filter
    const { items, lastKey, texts } = await this.#deps.database.withSite(
      site.siteId,
      async (tx) => {
        const mailboxes = await readableMailboxes(tx, site, reader, mailbox)
        const mailboxIds = mailboxes?.map(({ mailboxId }) => mailboxId)
        const range = { mailboxIds, filter, limit: page.limit + 1, after: page.after }
        const found = await selectRange(tx, range)
        const rows = pageRows(found, page.limit, ({ pageKey }) => pageKey)
        const localParts = await localPartsOf(tx, reader, { mailboxes, rows: rows.items })
        const listed = rows.items.flatMap((row) => {
          const localPart = localParts.get(row.mailboxId)
          return localPart === undefined ? [] : [listItemOf(site, localPart, row)]
        })
        const ids = listed.map(({ id }) => id)
        return { ...rows, items: listed, texts: await searchedTexts(tx, search, ids) }
      },
    )
    return { items: search.length === 0 ? items : await markFound(search, items, texts), lastKey }
  }

  /** With URLs to its bytes. 404 `MessageNotFound` also for somebody else's. */
  async get(site: Site, reader: Actor, messageId: string): Promise<MessageDetail> {
    const found = await this.#deps.database.withSite(site.siteId, async (tx) => {
      const row = await selectReadableDetail(tx, reader, messageId)
      return row && { row, recipients: await selectRecipients(tx, messageId) }
    })
    if (!found) throw notFound('Message', messageId)
    const { row, recipients } = found
    const deliveries = recipients.map(({ updatedAt, ...recipient }) => ({
      ...recipient,
      updatedAt: updatedAt.toISOString(),
    }))
    return { ...detailOf(site, row, await signedPartsOf(this.#deps, site.siteId, row)), deliveries }
  }

  /** 404 `MailboxNotFound` for a mailbox that they may not read. */
  async requireReadable(site: Site, reader: Actor, mailbox: string): Promise<void> {
    await this.#deps.database.withSite(site.siteId, (tx) =>
      readableMailboxes(tx, site, reader, mailbox),
    )
  }

  /** The addresses of the mailboxes with news that they may read now. */
  async readableChanges(
    site: Site,
    reader: Actor,
    {
      mailbox,
      changed,
    }: { readonly mailbox: string | undefined; readonly changed: ChangedMailboxes },
  ): Promise<readonly string[]> {
    const mailboxes = await this.#deps.database.withSite(site.siteId, async (tx) =>
      mailbox === undefined
        ? selectReadableMailboxes(tx, reader, { limit: MERGED_MAILBOXES })
        : ((await readableMailboxes(tx, site, reader, mailbox)) ?? []),
    )
    return mailboxes
      .filter(({ mailboxId }) => concerns(changed, mailboxId))
      .map(({ localPart }) => addressOf(site, localPart))
  }
}

/** Undefined stands for all of the site. */
async function readableMailboxes(
  tx: SiteTx,
  site: Site,
  reader: Actor,
  address: string | undefined,
): Promise<readonly ReadableMailbox[] | undefined> {
  if (address === undefined) {
    const all = await selectReadableMailboxes(tx, reader, { limit: MERGED_MAILBOXES + 1 })
    return all.length > MERGED_MAILBOXES && atLeast(reader, 'admin') ? undefined : all
  }
  const localPart = localPartAt(site.domain, address)
  const found =
    localPart === undefined
      ? []
      : await selectReadableMailboxes(tx, reader, { localPart, limit: 1 })
  if (found.length === 0) throw notFound('Mailbox', address)
  return found
}

/** A word that is not rare is found among the newest messages; a rare one by the index of words, which is short then. */
async function selectRange(tx: SiteTx, range: ListedRange): Promise<readonly ListedRow[]> {
  const { folders, search } = range.filter
  if (range.mailboxIds?.length === 0 || folders.length === 0) return []
  if (search.length === 0) return selectListed(tx, range)
  await searchWords(tx, search, range.mailboxIds)
  const newest = await selectFoundAmongNewest(tx, range)
  return newest.length === range.limit ? newest : selectFound(tx, range)
}

async function localPartsOf(
  tx: SiteTx,
  reader: Actor,
  {
    mailboxes,
    rows,
  }: {
    readonly mailboxes: readonly ReadableMailbox[] | undefined
    readonly rows: readonly ListedRow[]
  },
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.map(({ mailboxId }) => mailboxId))]
  const known = mailboxes ?? (ids.length === 0 ? [] : await selectReadableOf(tx, reader, ids))
  return new Map(known.map(({ mailboxId, localPart }) => [mailboxId, localPart]))
}
