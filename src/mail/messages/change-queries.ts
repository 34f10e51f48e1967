import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { Folder } from './model.ts'

const message = ({ db, siteId }: SiteTx, messageId: string) =>
  db.updateTable('mail_message').where('site_id', '=', siteId).where('message_id', '=', messageId)

export async function updateSeen(tx: SiteTx, messageId: string, seen: boolean): Promise<void> {
  await message(tx, messageId).set({ seen }).where('seen', '<>', seen).execute()
}

const NOT_IN_TRASH = { origin_folder: null, trashed_at: null, deleted: false } as const

export async function updateArchived(tx: SiteTx, messageId: string): Promise<void> {
  await message(tx, messageId)
    .set({ ...NOT_IN_TRASH, folder: 'ARCHIVE' })
    .execute()
}

/** Of a message that is not there yet. */
export async function updateTrashed(tx: SiteTx, messageId: string, now: Date): Promise<void> {
  await message(tx, messageId)
    .set({
      folder: 'TRASH',
      origin_folder: sql`folder`,
      trashed_at: now,
    })
    .execute()
}

/** Of a message in the trash. */
export async function updateDeleted(tx: SiteTx, messageId: string): Promise<void> {
  await message(tx, messageId).set({ deleted: true }).execute()
}

/** Of a message in the trash. Returns its folder. */
export async function updateRestored(tx: SiteTx, messageId: string): Promise<Folder> {
  const { folder } = await message(tx, messageId)
    .set({ ...NOT_IN_TRASH, folder: sql`coalesce(origin_folder, 'INBOX')` })
    .returning('folder')
    .executeTakeFirstOrThrow()
  return folder
}
