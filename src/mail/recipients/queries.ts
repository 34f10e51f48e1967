import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { TargetRow } from './model.ts'

/** The mailboxes that these addresses lead to, by themselves or as aliases. */
export async function selectTargets(
  tx: SiteTx,
  localParts: readonly string[],
): Promise<readonly TargetRow[]> {
  const { rows } = await sql<TargetRow>`
    select target.matched, mailbox.mailbox_id as "mailboxId", mailbox.local_part as "localPart",
           mailbox.status, mailbox.used_bytes as "usedBytes", mailbox.used_messages as "usedMessages",
           mailbox.quota_bytes as "quotaBytes", mailbox.quota_messages as "quotaMessages",
           usage.used_bytes as "siteBytes", usage.used_messages as "siteMessages",
           site.deployment_settings as "deploymentSettings"
    from (
      select local_part as matched, mailbox_id from mailbox
      where site_id = ${tx.siteId} and local_part = any(${localParts})
      union all
      select local_part, mailbox_id from mail_alias_target
      where site_id = ${tx.siteId} and local_part = any(${localParts})
    ) target
    join mailbox on mailbox.site_id = ${tx.siteId} and mailbox.mailbox_id = target.mailbox_id
    join mail_usage usage on usage.site_id = mailbox.site_id
    join site on site.site_id = mailbox.site_id
    order by mailbox.mailbox_id`.execute(tx.db)
  return rows
}

/** The local part of the mailbox that has taken mail longest, of those with an owner whose role is above `user`. */
export async function selectOldestAdminMailbox(tx: SiteTx): Promise<string | undefined> {
  const { rows } = await sql<{ localPart: string }>`
    select mailbox.local_part as "localPart"
    from mailbox
    where mailbox.site_id = ${tx.siteId} and mailbox.status = 'ACTIVE' and exists (
      select from mailbox_owner owner
      join pool_user on pool_user.site_id = owner.site_id
        and pool_user.user_pool_id = owner.user_pool_id and pool_user.sub = owner.sub
      where owner.site_id = mailbox.site_id and owner.mailbox_id = mailbox.mailbox_id
        and pool_user.role in ('admin', 'super-admin'))
    order by mailbox.created_at, mailbox.mailbox_id
    limit 1`.execute(tx.db)
  return rows[0]?.localPart
}

/** Whether the site has a mailbox, disabled ones included. */
export async function siteHasMailbox({ db, siteId }: SiteTx): Promise<boolean> {
  const row = await db
    .selectFrom('mailbox')
    .select('mailbox_id')
    .where('site_id', '=', siteId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
