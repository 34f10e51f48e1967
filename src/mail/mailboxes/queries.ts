import { sql } from 'kysely'

import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { Mailbox, MailboxSettings, MailboxSettingsChange, OwnedMailbox } from './model.ts'

export type StoredSettings = Omit<MailboxSettings, 'mailbox'>

export interface ReportedMailbox extends OwnedMailbox, StoredSettings {
  readonly ownerEmails: string[]
}

/** Counts come as text. */
interface SettingsRow extends Pick<StoredSettings, 'trashAutoPurge' | 'trashRetentionDays'> {
  readonly quotaBytes: string | null
  readonly quotaMessages: string | null
  readonly usedBytes: string
  readonly usedMessages: string
}

const OWNERS = sql<string[]>`array(
  select owner.sub from mailbox_owner owner
  where owner.site_id = mailbox.site_id and owner.mailbox_id = mailbox.mailbox_id
  order by owner.created_at, owner.sub)`

const OWNER_EMAILS = sql<string[]>`array(
  select pool_user.email from mailbox_owner owner
  join pool_user on pool_user.site_id = owner.site_id
    and pool_user.user_pool_id = owner.user_pool_id and pool_user.sub = owner.sub
  where owner.site_id = mailbox.site_id and owner.mailbox_id = mailbox.mailbox_id
  order by owner.created_at, owner.sub)`

const SETTINGS = [
  'trash_auto_purge as trashAutoPurge',
  'trash_retention_days as trashRetentionDays',
  'quota_bytes as quotaBytes',
  'quota_messages as quotaMessages',
  'used_bytes as usedBytes',
  'used_messages as usedMessages',
] as const

const mailboxes = ({ db, siteId }: SiteTx) =>
  db
    .selectFrom('mailbox')
    .select([
      'mailbox.mailbox_id as mailboxId',
      'mailbox.local_part as localPart',
      'mailbox.status',
    ])
    .select(OWNERS.as('owners'))
    .where('mailbox.site_id', '=', siteId)

/** By local part; one more than the limit when there is a next page. Those of one owner, or all. */
export function selectMailboxes(
  tx: SiteTx,
  owner: string | undefined,
  page: { readonly limit: number; readonly after: string | undefined },
): Promise<OwnedMailbox[]> {
  const { after } = page
  return mailboxes(tx)
    .$if(owner !== undefined, (query) => query.where(ownedBy(tx, owner ?? '')))
    .$if(after !== undefined, (query) => query.where('mailbox.local_part', '>', after ?? ''))
    .orderBy('mailbox.local_part')
    .limit(page.limit + 1)
    .execute()
}

export function selectMailbox(tx: SiteTx, localPart: string): Promise<OwnedMailbox | undefined> {
  return mailboxes(tx).where('mailbox.local_part', '=', localPart).executeTakeFirst()
}

/** Those of these local parts that there are. They stay until the transaction ends. */
export function lockMailboxIds(
  tx: SiteTx,
  localParts: readonly string[],
): Promise<{ mailboxId: string; localPart: string }[]> {
  return tx.db
    .selectFrom('mailbox')
    .select(['mailbox_id as mailboxId', 'local_part as localPart'])
    .where('site_id', '=', tx.siteId)
    .where('local_part', 'in', localParts)
    .forKeyShare()
    .execute()
}

/** The local parts of active mailboxes without another owner. */
export async function selectSolelyOwned(
  tx: SiteTx,
  sub: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await tx.db
    .selectFrom('mailbox')
    .select('local_part as localPart')
    .where('mailbox.site_id', '=', tx.siteId)
    .where('mailbox.status', '=', 'ACTIVE')
    .where(ownedBy(tx, sub))
    .where(
      sql<boolean>`not exists (select from mailbox_owner other
        where other.site_id = mailbox.site_id and other.mailbox_id = mailbox.mailbox_id
          and other.sub <> ${sub})`,
    )
    .orderBy('local_part')
    .limit(limit)
    .execute()
  return rows.map(({ localPart }) => localPart)
}

export async function insertMailbox(
  tx: SiteTx,
  mailbox: { readonly mailboxId: string; readonly localPart: string },
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('mailbox')
    .values({
      site_id: tx.siteId,
      mailbox_id: mailbox.mailboxId,
      local_part: mailbox.localPart,
      quota_bytes: null,
      quota_messages: null,
      disabled_at: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await tx.db
    .insertInto('mail_usage')
    .values({ site_id: tx.siteId })
    .onConflict((on) => on.doNothing())
    .execute()
}

/** Those who own it already stay what they are. */
export async function insertOwners(
  tx: SiteTx,
  mailboxId: string,
  owners: readonly UserKey[],
  now: Date,
): Promise<void> {
  if (owners.length === 0) return
  await tx.db
    .insertInto('mailbox_owner')
    .values(
      owners.map(({ userPoolId, sub }) => ({
        site_id: tx.siteId,
        mailbox_id: mailboxId,
        user_pool_id: userPoolId,
        sub,
        created_at: now,
      })),
    )
    .onConflict((on) => on.doNothing())
    .execute()
}

export async function deleteOwners(
  tx: SiteTx,
  mailboxId: string,
  subs: readonly string[],
): Promise<void> {
  if (subs.length === 0) return
  await tx.db
    .deleteFrom('mailbox_owner')
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .where('sub', 'in', subs)
    .execute()
}

export async function updateStatus(
  tx: SiteTx,
  mailboxId: string,
  status: Mailbox['status'],
  now: Date,
): Promise<void> {
  await tx.db
    .updateTable('mailbox')
    .set({ status, disabled_at: status === 'DISABLED' ? now : null, updated_at: now })
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .execute()
}

/** With its owners; its messages belong to no mailbox then, and count no more. */
export async function deleteMailbox(tx: SiteTx, mailboxId: string): Promise<void> {
  const { bytes, messages } = await tx.db
    .deleteFrom('mailbox')
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .returning(['used_bytes as bytes', 'used_messages as messages'])
    .executeTakeFirstOrThrow()
  await tx.db
    .updateTable('mail_usage')
    .set({
      used_bytes: sql`used_bytes - ${bytes}`,
      used_messages: sql`used_messages - ${messages}`,
    })
    .where('site_id', '=', tx.siteId)
    .execute()
}

/** As `selectMailboxes`, of all owners. */
export async function selectReports(
  tx: SiteTx,
  filter: { readonly localPart?: string },
  page: { readonly limit: number; readonly after: string | undefined },
): Promise<ReportedMailbox[]> {
  const { localPart } = filter
  const { after } = page
  const rows = await mailboxes(tx)
    .select(OWNER_EMAILS.as('ownerEmails'))
    .select(SETTINGS)
    .$if(localPart !== undefined, (query) =>
      query.where('mailbox.local_part', '=', localPart ?? ''),
    )
    .$if(after !== undefined, (query) => query.where('mailbox.local_part', '>', after ?? ''))
    .orderBy('mailbox.local_part')
    .limit(page.limit + 1)
    .execute()
  return rows.map((row) => ({ ...row, ...settingsOf(row) }))
}

export async function selectSettings(tx: SiteTx, mailboxId: string): Promise<StoredSettings> {
  const row = await tx.db
    .selectFrom('mailbox')
    .select(SETTINGS)
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .executeTakeFirstOrThrow()
  return settingsOf(row)
}

export async function updateSettings(
  tx: SiteTx,
  mailboxId: string,
  change: MailboxSettingsChange,
  now: Date,
): Promise<void> {
  const { trashAutoPurge, trashRetentionDays, quotaBytes, quotaMessages } = change
  await tx.db
    .updateTable('mailbox')
    .set({
      updated_at: now,
      ...(trashAutoPurge !== undefined && { trash_auto_purge: trashAutoPurge }),
      ...(trashRetentionDays !== undefined && { trash_retention_days: trashRetentionDays }),
      ...(quotaBytes !== undefined && { quota_bytes: quotaBytes?.toString() ?? null }),
      ...(quotaMessages !== undefined && { quota_messages: quotaMessages?.toString() ?? null }),
    })
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .execute()
}

const ownedBy = (tx: SiteTx, sub: string) =>
  sql<boolean>`mailbox.mailbox_id in (
    select mine.mailbox_id from mailbox_owner mine
    where mine.site_id = ${tx.siteId} and mine.sub = ${sub})`

const settingsOf = (row: SettingsRow): StoredSettings => ({
  trashAutoPurge: row.trashAutoPurge,
  trashRetentionDays: row.trashRetentionDays,
  quotaBytes: row.quotaBytes === null ? null : Number(row.quotaBytes),
  quotaMessages: row.quotaMessages === null ? null : Number(row.quotaMessages),
  usage: { bytes: Number(row.usedBytes), messages: Number(row.usedMessages) },
})
