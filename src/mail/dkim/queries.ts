import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { StoredDkimKey } from './model.ts'

interface NewDkimKey {
  readonly number: number
  readonly publicKey: string
  readonly sealedPrivate: Buffer
  readonly createdAt: Date
  /** Null for a key that is pending. */
  readonly activatedAt: Date | null
}

/** Newest first. */
export function selectDkimKeys(tx: SiteTx): Promise<StoredDkimKey[]> {
  return tx.db
    .selectFrom('dkim_key')
    .select([
      'number',
      'public_key as publicKey',
      'created_at as createdAt',
      'activated_at as activatedAt',
      'superseded_at as supersededAt',
    ])
    .where('site_id', '=', tx.siteId)
    .orderBy('number', 'desc')
    .execute()
}

/** The key that signs now. */
export async function selectActiveDkimKey(
  tx: SiteTx,
): Promise<{ readonly number: number; readonly sealedPrivate: Buffer } | undefined> {
  const row = await tx.db
    .selectFrom('dkim_key')
    .select(['number', 'sealed_private as sealedPrivate'])
    .where('site_id', '=', tx.siteId)
    .where('activated_at', 'is not', null)
    .where('superseded_at', 'is', null)
    .executeTakeFirst()
  return row?.sealedPrivate ? { ...row, sealedPrivate: row.sealedPrivate } : undefined
}

/** False when the site has that number, or a key in that state, already. */
export async function insertDkimKey(tx: SiteTx, key: NewDkimKey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('dkim_key')
    .values({
      site_id: tx.siteId,
      number: key.number,
      public_key: key.publicKey,
      sealed_private: key.sealedPrivate,
      created_at: key.createdAt,
      activated_at: key.activatedAt,
      superseded_at: null,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** The number of the pending key. It stays pending until this transaction ends. */
export async function lockPendingDkimKey(tx: SiteTx): Promise<number | undefined> {
  const row = await tx.db
    .selectFrom('dkim_key')
    .select('number')
    .where('site_id', '=', tx.siteId)
    .where('activated_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  return row?.number
}

/** The key that signed until now signs nothing more: its private half is deleted. */
export async function supersedeDkimKey(tx: SiteTx, now: Date): Promise<void> {
  await tx.db
    .updateTable('dkim_key')
    .set({ superseded_at: now, sealed_private: null })
    .where('site_id', '=', tx.siteId)
    .where('activated_at', 'is not', null)
    .where('superseded_at', 'is', null)
    .execute()
}

export async function activateDkimKey(tx: SiteTx, number: number, now: Date): Promise<void> {
  await tx.db
    .updateTable('dkim_key')
    .set({ activated_at: sql`greatest(created_at, ${now}::timestamptz)` })
    .where('site_id', '=', tx.siteId)
    .where('number', '=', number)
    .execute()
}

export async function deleteRetiredDkimKeys(tx: SiteTx, supersededBefore: Date): Promise<void> {
  await tx.db
    .deleteFrom('dkim_key')
    .where('site_id', '=', tx.siteId)
    .where('superseded_at', '<=', supersededBefore)
    .execute()
}
