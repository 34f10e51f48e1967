import type { SiteTx } from '#platform/postgres/database.ts'

import type { StoredForwardingTarget } from './model.ts'

/** A target, by the token that was mailed to it. */
export interface TargetOfToken extends Pick<StoredForwardingTarget, 'target' | 'verifiedAt'> {
  readonly localPart: string
  readonly expiresAt: Date | null
}

interface NewToken {
  readonly tokenHash: Buffer
  readonly sentAt: Date
  readonly expiresAt: Date
}

/** Ends the token that the target had. */
export async function updateTargetToken(
  tx: SiteTx,
  { mailboxId, target }: { readonly mailboxId: string; readonly target: string },
  { tokenHash, sentAt, expiresAt }: NewToken,
): Promise<void> {
  await tx.db
    .updateTable('mail_forwarding_target')
    .set({ token_hash: tokenHash, token_expires_at: expiresAt, verification_sent_at: sentAt })
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .where('target', '=', target)
    .execute()
}

/** Undefined when the token is unknown. */
export function selectTargetOfToken(
  tx: SiteTx,
  tokenHash: Buffer,
): Promise<TargetOfToken | undefined> {
  return tx.db
    .selectFrom('mail_forwarding_target')
    .innerJoin('mailbox', (join) =>
      join
        .onRef('mailbox.site_id', '=', 'mail_forwarding_target.site_id')
        .onRef('mailbox.mailbox_id', '=', 'mail_forwarding_target.mailbox_id'),
    )
    .select([
      'mailbox.local_part as localPart',
      'target',
      'verified_at as verifiedAt',
      'token_expires_at as expiresAt',
    ])
    .where('mail_forwarding_target.site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
}

/** False when it is verified already, or gone. When two verify at once, one of them gets the row. */
export async function markTargetVerified(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('mail_forwarding_target')
    .set({ verified_at: now })
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .where('verified_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
