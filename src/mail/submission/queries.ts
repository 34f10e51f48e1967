import { sql } from 'kysely'

import { OPERATOR } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { SubmissionLogin } from './model.ts'

interface NewCredential {
  readonly credentialId: string
  readonly mailboxId: string
  readonly name: string
  readonly createdBy: string
  readonly secretHash: Buffer
  readonly createdAt: Date
}

export async function insertCredential(tx: SiteTx, credential: NewCredential): Promise<void> {
  await tx.db
    .insertInto('mail_submission_credential')
    .values({
      site_id: tx.siteId,
      credential_id: credential.credentialId,
      mailbox_id: credential.mailboxId,
      name: credential.name,
      created_by: credential.createdBy,
      secret_hash: credential.secretHash,
      created_at: credential.createdAt,
      last_used_at: null,
    })
    .execute()
}

/** The oldest first. */
export function selectCredentials(tx: SiteTx, mailboxId: string) {
  return tx.db
    .selectFrom('mail_submission_credential')
    .select([
      'credential_id as credentialId',
      'name',
      'created_by as createdBy',
      'created_at as createdAt',
      'last_used_at as lastUsedAt',
    ])
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .orderBy('created_at')
    .orderBy('credential_id')
    .execute()
}

/** Returns its name; undefined when it was not there. */
export async function deleteCredential(
  tx: SiteTx,
  mailboxId: string,
  credentialId: string,
): Promise<string | undefined> {
  const row = await tx.db
    .deleteFrom('mail_submission_credential')
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .where('credential_id', '=', credentialId)
    .returning('name')
    .executeTakeFirst()
  return row?.name
}

/** Of mailboxes that take mail, made by a user who may still send from them. */
const usable = (tx: SiteTx) =>
  tx.db
    .selectFrom('mail_submission_credential as credential')
    .innerJoin('mailbox', (join) =>
      join
        .onRef('mailbox.site_id', '=', 'credential.site_id')
        .onRef('mailbox.mailbox_id', '=', 'credential.mailbox_id'),
    )
    .where('credential.site_id', '=', tx.siteId)
    .where('mailbox.status', '=', 'ACTIVE')
    .where(
      sql<boolean>`(credential.created_by = ${OPERATOR}
        or exists (select from mailbox_owner owner
          where owner.site_id = credential.site_id and owner.mailbox_id = credential.mailbox_id
            and owner.sub = credential.created_by)
        or exists (select from pool_user admin
          where admin.site_id = credential.site_id and admin.sub = credential.created_by
            and admin.role in ('admin', 'super-admin')))`,
    )

/** Whose secret it is, in whatever mailbox of the site. */
export function selectBySecret(tx: SiteTx, secretHash: Buffer) {
  return usable(tx)
    .select([
      'credential.credential_id as credentialId',
      'credential.secret_hash as secretHash',
      'credential.last_used_at as lastUsedAt',
      'mailbox.mailbox_id as mailboxId',
      'mailbox.local_part as localPart',
    ])
    .where('credential.secret_hash', '=', secretHash)
    .executeTakeFirst()
}

export async function isCurrent(
  tx: SiteTx,
  { credentialId }: Pick<SubmissionLogin, 'credentialId'>,
): Promise<boolean> {
  const row = await usable(tx)
    .select('credential.credential_id')
    .where('credential.credential_id', '=', credentialId)
    .executeTakeFirst()
  return row !== undefined
}

export async function updateLastUsed(tx: SiteTx, credentialId: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('mail_submission_credential')
    .set({ last_used_at: now })
    .where('site_id', '=', tx.siteId)
    .where('credential_id', '=', credentialId)
    .execute()
}
