import type { SiteTx } from '#platform/postgres/database.ts'

/** What all mailboxes of the site hold; counts come as text, null before the first mailbox. */
export function selectUsage(tx: SiteTx): Promise<{
  readonly usedBytes: string | null
  readonly usedMessages: string | null
  readonly deploymentSettings: unknown
}> {
  return tx.db
    .selectFrom('site')
    .leftJoin('mail_usage', 'mail_usage.site_id', 'site.site_id')
    .select([
      'mail_usage.used_bytes as usedBytes',
      'mail_usage.used_messages as usedMessages',
      'site.deployment_settings as deploymentSettings',
    ])
    .where('site.site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
}
