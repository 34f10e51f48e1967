import { type RawBuilder, sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { FolderState, MessageFilter } from './message-filter.ts'
import type { Folder } from './model.ts'

/** Of the newest so many, a word that is not rare is found among these. */
const NEWEST_LOOKED_AT = 2000

export interface ListedRow {
  readonly messageId: string
  readonly mailboxId: string
  readonly folder: Folder
  readonly deleted: boolean
  readonly subject: string
  readonly hasAttachments: boolean
  readonly seen: boolean
  readonly fromAddress: string
  readonly recipients: unknown
  readonly threadId: string
  readonly snippet: string
  readonly receivedAt: Date
  /** Where the next page starts, with the time as exact as Postgres has it. */
  readonly pageKey: string
}

export interface ListedRange {
  /** Undefined for all of the site. */
  readonly mailboxIds: readonly string[] | undefined
  readonly filter: MessageFilter
  readonly limit: number
  /** A `pageKey`. */
  readonly after: string | undefined
}

const COLUMNS = sql`m.message_id as "messageId", m.mailbox_id as "mailboxId", m.folder, m.deleted,
  m.subject, m.has_attachments as "hasAttachments", m.seen, m.from_address as "fromAddress",
  m.recipients, m.thread_id as "threadId", m.snippet, m.received_at as "receivedAt",
  m.received_at::text || '/' || m.message_id as "pageKey"`

/** Newest first. Reads no more of the index than a page, for each of the mailboxes and folders. */
export async function selectListed(tx: SiteTx, range: ListedRange): Promise<readonly ListedRow[]> {
  const { rows } = await sql<ListedRow>`
    select ${COLUMNS}
    from (${newestKeys(tx, range, range.limit)}) page
    join mail_message m on m.site_id = ${tx.siteId} and m.message_id = page.message_id
    order by page.received_at desc, page.message_id desc`.execute(tx.db)
  return rows
}

/** Of the newest messages those that the query of `searchWords` finds: a word that is not rare is found among them. */
export async function selectFoundAmongNewest(
  tx: SiteTx,
  range: ListedRange,
): Promise<readonly ListedRow[]> {
  const { rows } = await sql<ListedRow>`
    select ${COLUMNS}
    from (
      select newest.message_id, newest.received_at
      from (${newestKeys(tx, range, NEWEST_LOOKED_AT)}) newest
      cross join lateral (
        select from mail_search words
        where words.site_id = ${tx.siteId} and words.message_id = newest.message_id
        limit 1) found
      order by newest.received_at desc, newest.message_id desc
      limit ${range.limit}) page
    join mail_message m on m.site_id = ${tx.siteId} and m.message_id = page.message_id
    order by page.received_at desc, page.message_id desc`.execute(tx.db)
  return rows
}

/**
 * All that the query of `searchWords` finds, from the index of words, newest first. `materialized` and `limit 1` leave no
 * other way: the planner cannot know how rare the words are, and would walk a large mailbox by time to find one message.
 */
export async function selectFound(tx: SiteTx, range: ListedRange): Promise<readonly ListedRow[]> {
  const { rows } = await sql<ListedRow>`
    with found as materialized (
      select words.message_id, words.received_at from mail_search words
      where words.site_id = ${tx.siteId})
    select ${COLUMNS}
    from (select * from found order by received_at desc, message_id desc) key
    cross join lateral (
      select * from mail_message each
      where each.site_id = ${tx.siteId} and each.message_id = key.message_id
      limit 1) m
    where ${ofMailboxes(range)}
      and (m.folder, m.deleted) in (${sql.join(range.filter.folders.map(stateOf))})
      and ${matching(range)}
    order by key.received_at desc, key.message_id desc
    limit ${range.limit}`.execute(tx.db)
  return rows
}

/** The beginnings of the texts of these messages, as far as they were parsed. */
export async function selectTexts(
  tx: SiteTx,
  messageIds: readonly string[],
  characters: number,
): Promise<ReadonlyMap<string, string>> {
  if (messageIds.length === 0) return new Map()
  const rows = await tx.db
    .selectFrom('mail_message as m')
    .innerJoin('mail_content as content', (join) =>
      join.onRef('content.site_id', '=', 'm.site_id').onRef('content.raw_id', '=', 'm.raw_id'),
    )
    .select([
      'm.message_id as messageId',
      sql<string>`left(content.text, ${characters})`.as('text'),
    ])
    .where('m.site_id', '=', tx.siteId)
    .where('m.message_id', 'in', messageIds)
    .execute()
  return new Map(rows.map(({ messageId, text }) => [messageId, text]))
}

/** Ids and times of the newest messages. */
const newestKeys = (tx: SiteTx, range: ListedRange, limit: number): RawBuilder<unknown> =>
  range.mailboxIds === undefined
    ? newestOfSite(tx, range, limit)
    : newestOfMailboxes(tx, { ...range, mailboxIds: range.mailboxIds }, limit)

/** Each folder of each mailbox is one range of the index. */
const newestOfMailboxes = (
  tx: SiteTx,
  range: ListedRange & { readonly mailboxIds: readonly string[] },
  limit: number,
): RawBuilder<unknown> => sql`
  select key.message_id, key.received_at
  from unnest(${range.mailboxIds}::text[]) box (mailbox_id)
  cross join (values ${sql.join(range.filter.folders.map(stateOf))}) state (folder, deleted)
  cross join lateral (
    select m.message_id, m.received_at from mail_message m
    where m.site_id = ${tx.siteId} and m.mailbox_id = box.mailbox_id
      and m.folder = state.folder and m.deleted = state.deleted and ${matching(range)}
    order by m.received_at desc, m.message_id desc
    limit ${limit}) key
  order by key.received_at desc, key.message_id desc
  limit ${limit}`

const newestOfSite = (tx: SiteTx, range: ListedRange, limit: number): RawBuilder<unknown> => sql`
  select m.message_id, m.received_at from mail_message m
  where m.site_id = ${tx.siteId} and ${ofMailboxes(range)}
    and (m.folder, m.deleted) in (${sql.join(range.filter.folders.map(stateOf))})
    and ${matching(range)}
  order by m.received_at desc, m.message_id desc
  limit ${limit}`

/** Messages of a mailbox that is gone are there until they are removed. */
const ofMailboxes = ({ mailboxIds }: ListedRange): RawBuilder<boolean> =>
  mailboxIds === undefined
    ? sql`exists (select from mailbox
        where mailbox.site_id = m.site_id and mailbox.mailbox_id = m.mailbox_id)`
    : sql`m.mailbox_id = any(${mailboxIds}::text[])`

const stateOf = ({ folder, deleted }: FolderState): RawBuilder<unknown> =>
  sql`(${folder}::text, ${deleted}::boolean)`

/** What else the filter asks for, and where the page starts. */
function matching({ filter, after }: ListedRange): RawBuilder<boolean> {
  const { from, until, threadId, seen } = filter
  const conditions = [
    from && sql<boolean>`m.received_at >= ${from}`,
    until && sql<boolean>`m.received_at < ${until}`,
    threadId === undefined ? undefined : sql<boolean>`m.thread_id = ${threadId}`,
    // Not a parameter: the planner is to see that the index of what was not seen serves.
    seen === undefined ? undefined : seen ? sql<boolean>`m.seen` : sql<boolean>`not m.seen`,
    after === undefined ? undefined : startsAfter(after),
  ]
  return sql<boolean>`${sql.join(
    [sql`true`, ...conditions.filter((each) => each !== undefined)],
    sql` and `,
  )}`
}

function startsAfter(pageKey: string): RawBuilder<boolean> {
  const slash = pageKey.indexOf('/')
  const [receivedAt, messageId] = [pageKey.slice(0, slash), pageKey.slice(slash + 1)]
  return sql`(m.received_at, m.message_id) < (${receivedAt}::text::timestamptz, ${messageId})`
}
