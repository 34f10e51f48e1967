import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { StoredAlias } from './model.ts'

const TARGETS = sql<string[]>`array(
  select mailbox.local_part from mail_alias_target target
  join mailbox on mailbox.site_id = target.site_id and mailbox.mailbox_id = target.mailbox_id
  where target.site_id = mail_alias.site_id and target.local_part = mail_alias.local_part
  order by mailbox.local_part)`

const aliases = ({ db, siteId }: SiteTx) =>
  db
    .selectFrom('mail_alias')
    .select('mail_alias.local_part as localPart')
    .select(TARGETS.as('targets'))
    .where('mail_alias.site_id', '=', siteId)

/** By local part; one more than the limit when there is a next page. */
export function selectAliases(
  tx: SiteTx,
  page: { readonly limit: number; readonly after: string | undefined },
): Promise<StoredAlias[]> {
  const { after } = page
  return aliases(tx)
    .$if(after !== undefined, (query) => query.where('mail_alias.local_part', '>', after ?? ''))
    .orderBy('mail_alias.local_part')
    .limit(page.limit + 1)
    .execute()
}

export function selectAlias(tx: SiteTx, localPart: string): Promise<StoredAlias | undefined> {
  return aliases(tx).where('mail_alias.local_part', '=', localPart).executeTakeFirst()
}

/** Local parts of the aliases that lead to this mailbox and to no other. */
export async function selectAliasesOfOne(
  tx: SiteTx,
  mailboxId: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ localPart: string }>`
    select target.local_part as "localPart" from mail_alias_target target
    where target.site_id = ${tx.siteId} and target.mailbox_id = ${mailboxId}
      and not exists (
        select from mail_alias_target other
        where other.site_id = target.site_id and other.local_part = target.local_part
          and other.mailbox_id <> target.mailbox_id)
    order by target.local_part`.execute(tx.db)
  return rows.map(({ localPart }) => localPart)
}

export async function insertAlias(tx: SiteTx, localPart: string, now: Date): Promise<void> {
  await tx.db
    .insertInto('mail_alias')
    .values({ site_id: tx.siteId, local_part: localPart, created_at: now, updated_at: now })
    .execute()
}

/** These mailboxes from now on, and no others. */
export async function replaceTargets(
  tx: SiteTx,
  { localPart, mailboxIds }: { readonly localPart: string; readonly mailboxIds: readonly string[] },
  now: Date,
): Promise<void> {
  await tx.db
    .deleteFrom('mail_alias_target')
    .where('site_id', '=', tx.siteId)
    .where('local_part', '=', localPart)
    .execute()
  await tx.db
    .insertInto('mail_alias_target')
    .values(
      mailboxIds.map((mailboxId) => ({
        site_id: tx.siteId,
        local_part: localPart,
        mailbox_id: mailboxId,
      })),
    )
    .execute()
  await tx.db
    .updateTable('mail_alias')
    .set({ updated_at: now })
    .where('site_id', '=', tx.siteId)
    .where('local_part', '=', localPart)
    .execute()
}

/** With their targets. */
export async function deleteAliases(tx: SiteTx, localParts: readonly string[]): Promise<void> {
  await tx.db
    .deleteFrom('mail_alias')
    .where('site_id', '=', tx.siteId)
    .where('local_part', 'in', localParts)
    .execute()
}
