import type { Stack } from './stack.ts'

/** Has a mailbox forward from now on, to targets that are verified already. */
export async function forwardMailbox(
  stack: Stack,
  address: string,
  { targets, keepCopy }: { readonly targets: readonly string[]; readonly keepCopy: boolean },
): Promise<void> {
  const [localPart = '', host = ''] = address.split('@')
  const now = new Date()
  await stack.inSite(host, async (tx, { siteId }) => {
    const { mailboxId } = await tx.db
      .selectFrom('mailbox')
      .select('mailbox_id as mailboxId')
      .where('local_part', '=', localPart)
      .executeTakeFirstOrThrow()
    const row = { site_id: siteId, mailbox_id: mailboxId }
    await tx.db
      .insertInto('mail_forwarding')
      .values({ ...row, enabled: true, keep_copy: keepCopy, updated_at: now })
      .onConflict((on) =>
        on.columns(['site_id', 'mailbox_id']).doUpdateSet({ keep_copy: keepCopy }),
      )
      .execute()
    await tx.db.deleteFrom('mail_forwarding_target').where('mailbox_id', '=', mailboxId).execute()
    for (const target of targets) {
      await tx.db
        .insertInto('mail_forwarding_target')
        .values({
          ...row,
          target,
          created_at: now,
          verified_at: now,
          token_hash: null,
          token_expires_at: null,
          verification_sent_at: null,
        })
        .execute()
    }
  })
}
