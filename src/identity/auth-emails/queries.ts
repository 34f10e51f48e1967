import type { SiteTx } from '#platform/postgres/database.ts'

import type { Branding, MessageType } from './branding.ts'

export interface BrandingRow extends Branding {
  readonly messageType: MessageType
}

export function selectBrandings(tx: SiteTx): Promise<BrandingRow[]> {
  return tx.db
    .selectFrom('auth_email_branding')
    .select(['message_type as messageType', 'subject', 'html_body as htmlBody'])
    .where('site_id', '=', tx.siteId)
    .execute()
}

/** The language of the last sign-in with the address. */
export async function selectLanguage(tx: SiteTx, address: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('user_pool')
    .innerJoin('pool_user', (join) =>
      join
        .onRef('pool_user.site_id', '=', 'user_pool.site_id')
        .onRef('pool_user.user_pool_id', '=', 'user_pool.user_pool_id'),
    )
    .select('pool_user.language')
    .where('user_pool.site_id', '=', tx.siteId)
    .where('pool_user.language', 'is not', null)
    .where((row) =>
      row.or([row('pool_user.email', '=', address), row('pool_user.external_email', '=', address)]),
    )
    .limit(1)
    .executeTakeFirst()
  return row?.language ?? undefined
}

export function selectBranding(tx: SiteTx, type: MessageType): Promise<Branding | undefined> {
  return tx.db
    .selectFrom('auth_email_branding')
    .select(['subject', 'html_body as htmlBody'])
    .where('site_id', '=', tx.siteId)
    .where('message_type', '=', type)
    .executeTakeFirst()
}

export async function upsertBranding(tx: SiteTx, row: BrandingRow, now: Date): Promise<void> {
  const { subject, htmlBody: html_body } = row
  await tx.db
    .insertInto('auth_email_branding')
    .values({
      site_id: tx.siteId,
      message_type: row.messageType,
      subject,
      html_body,
      updated_at: now,
    })
    .onConflict((on) =>
      on.columns(['site_id', 'message_type']).doUpdateSet({ subject, html_body, updated_at: now }),
    )
    .execute()
}

export async function deleteBranding(tx: SiteTx, type: MessageType): Promise<void> {
  await tx.db
    .deleteFrom('auth_email_branding')
    .where('site_id', '=', tx.siteId)
    .where('message_type', '=', type)
    .execute()
}
