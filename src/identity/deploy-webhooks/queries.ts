import type { SiteTx } from '#platform/postgres/database.ts'
import type { SourceMode } from '#sites/source.ts'

export async function upsertWebhook(tx: SiteTx, sealedSecret: Buffer, now: Date): Promise<void> {
  const values = { sealed_secret: sealedSecret, created_at: now }
  await tx.db
    .insertInto('deploy_webhook')
    .values({ site_id: tx.siteId, ...values })
    .onConflict((on) => on.column('site_id').doUpdateSet(values))
    .execute()
}

/** Where the site's files come from. */
export function selectWebhookSource(
  tx: SiteTx,
): Promise<
  | { readonly source_mode: SourceMode; readonly repo: unknown; readonly repo_binding: unknown }
  | undefined
> {
  return tx.db
    .selectFrom('site')
    .select(['source_mode', 'repo', 'repo_binding'])
    .where('site_id', '=', tx.siteId)
    .executeTakeFirst()
}

export async function selectWebhook(tx: SiteTx): Promise<Buffer | undefined> {
  const row = await tx.db
    .selectFrom('deploy_webhook')
    .select('sealed_secret')
    .where('site_id', '=', tx.siteId)
    .executeTakeFirst()
  return row?.sealed_secret
}

/** Returns whether there was one. */
export async function deleteWebhook(tx: SiteTx): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('deploy_webhook')
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Returns whether it is new. */
export async function insertDelivery(tx: SiteTx, delivery: Buffer, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('deploy_webhook_delivery')
    .values({ site_id: tx.siteId, delivery, received_at: now })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function deleteOldDeliveries(tx: SiteTx, before: Date): Promise<void> {
  await tx.db
    .deleteFrom('deploy_webhook_delivery')
    .where('site_id', '=', tx.siteId)
    .where('received_at', '<', before)
    .execute()
}
