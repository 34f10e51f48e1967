import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ForwardingRoute, ForwardingSettings, StoredForwardingTarget } from './model.ts'

export type StoredForwarding = Pick<ForwardingSettings, 'enabled' | 'keepCopy'>

export function selectForwarding(
  tx: SiteTx,
  mailboxId: string,
): Promise<StoredForwarding | undefined> {
  return tx.db
    .selectFrom('mail_forwarding')
    .select(['enabled', 'keep_copy as keepCopy'])
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .executeTakeFirst()
}

export async function upsertForwarding(
  tx: SiteTx,
  mailboxId: string,
  { enabled, keepCopy }: StoredForwarding,
  now: Date,
): Promise<void> {
  const set = { enabled, keep_copy: keepCopy, updated_at: now }
  await tx.db
    .insertInto('mail_forwarding')
    .values({ site_id: tx.siteId, mailbox_id: mailboxId, ...set })
    .onConflict((on) => on.columns(['site_id', 'mailbox_id']).doUpdateSet(set))
    .execute()
}

/** By address. */
export function selectForwardingTargets(
  tx: SiteTx,
  mailboxId: string,
): Promise<StoredForwardingTarget[]> {
  return tx.db
    .selectFrom('mail_forwarding_target')
    .select(['target', 'created_at as createdAt', 'verified_at as verifiedAt'])
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .orderBy('target')
    .execute()
}

/** Pending, and without a token. */
export async function insertForwardingTargets(
  tx: SiteTx,
  mailboxId: string,
  targets: readonly string[],
  now: Date,
): Promise<void> {
  if (targets.length === 0) return
  await tx.db
    .insertInto('mail_forwarding_target')
    .values(
      targets.map((target) => ({
        site_id: tx.siteId,
        mailbox_id: mailboxId,
        target,
        created_at: now,
        verified_at: null,
        token_hash: null,
        token_expires_at: null,
        verification_sent_at: null,
      })),
    )
    .execute()
}

/** Returns those that were there. */
export async function deleteForwardingTargets(
  tx: SiteTx,
  mailboxId: string,
  targets: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.db
    .deleteFrom('mail_forwarding_target')
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .where('target', 'in', targets)
    .returning('target')
    .execute()
  return rows.map(({ target }) => target).toSorted()
}

/** Where the mail of these mailboxes goes: of those that are active, forward, and have a verified target. */
export async function selectForwardingRoutes(
  tx: SiteTx,
  mailboxIds: readonly string[],
): Promise<readonly ForwardingRoute[]> {
  const { rows } = await sql<ForwardingRoute>`
    select forwarding.mailbox_id as "mailboxId", forwarding.keep_copy as "keepCopy",
           array_agg(verified.target order by verified.target) as targets
    from mail_forwarding forwarding
    join mailbox on mailbox.site_id = forwarding.site_id
      and mailbox.mailbox_id = forwarding.mailbox_id and mailbox.status = 'ACTIVE'
    join mail_forwarding_target verified on verified.site_id = forwarding.site_id
      and verified.mailbox_id = forwarding.mailbox_id and verified.verified_at is not null
    where forwarding.site_id = ${tx.siteId} and forwarding.mailbox_id = any(${mailboxIds})
      and forwarding.enabled
    group by forwarding.mailbox_id, forwarding.keep_copy
    order by forwarding.mailbox_id`.execute(tx.db)
  return rows
}
