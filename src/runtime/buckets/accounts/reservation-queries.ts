import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName } from './model.ts'

export interface ReservationRow extends ObjectName {
  readonly reservationId: string
  /** The object's, when this was reserved. */
  readonly version: string
}

const RESERVATION = ['reservation_id', 'bucket_id', 'object_key', 'version'] as const

export async function insertReservation(
  tx: SiteTx,
  reservation: ReservationRow & {
    readonly sizeBytes: number
    readonly kind: 'write' | 'url'
    readonly expiresAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('bucket_reservation')
    .values({
      site_id: tx.siteId,
      reservation_id: reservation.reservationId,
      bucket_id: reservation.bucketId,
      object_key: reservation.key,
      size_bytes: String(reservation.sizeBytes),
      kind: reservation.kind,
      version: reservation.version,
      expires_at: reservation.expiresAt,
    })
    .execute()
}

/** Ends a reservation; gives back the largest that the key has left. */
export async function endReservation(
  tx: SiteTx,
  { bucketId, key }: ObjectName,
  reservationId: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ largest: string | null }>`
    with ended as (
      delete from bucket_reservation
      where site_id = ${tx.siteId} and reservation_id = ${reservationId}
    )
    select max(size_bytes) as largest from bucket_reservation
    where site_id = ${tx.siteId} and bucket_id = ${bucketId} and object_key = ${key}
      and reservation_id <> ${reservationId}`.execute(tx.db)
  const largest = rows[0]?.largest ?? null
  return largest === null ? undefined : Number(largest)
}

export async function selectExpired(
  tx: SiteTx,
  now: Date,
  limit: number,
): Promise<ReservationRow[]> {
  const rows = await tx.db
    .selectFrom('bucket_reservation')
    .select(RESERVATION)
    .where('site_id', '=', tx.siteId)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
  return rows.map(toReservation)
}

/** Open URLs under whose key nothing has been seen since they were given out. */
export async function selectUnseen(
  tx: SiteTx,
  after: string,
  limit: number,
): Promise<ReservationRow[]> {
  const rows = await tx.db
    .selectFrom('bucket_reservation as reservation')
    .innerJoin('bucket_object as object', (join) =>
      join
        .onRef('object.site_id', '=', 'reservation.site_id')
        .onRef('object.bucket_id', '=', 'reservation.bucket_id')
        .onRef('object.object_key', '=', 'reservation.object_key')
        .onRef('object.version', '=', 'reservation.version'),
    )
    .select([
      'reservation.reservation_id',
      'reservation.bucket_id',
      'reservation.object_key',
      'reservation.version',
    ])
    .where('reservation.site_id', '=', tx.siteId)
    .where('reservation.kind', '=', 'url')
    .where('reservation.reservation_id', '>', after)
    .orderBy('reservation.reservation_id')
    .limit(limit)
    .execute()
  return rows.map(toReservation)
}

/** When the last reservation ends, of one bucket or of all. */
export async function selectLastExpiry(tx: SiteTx, bucketId?: string): Promise<Date | undefined> {
  const row = await tx.db
    .selectFrom('bucket_reservation')
    .select((select) => select.fn.max('expires_at').as('last'))
    .where('site_id', '=', tx.siteId)
    .$if(bucketId !== undefined, (query) => query.where('bucket_id', '=', bucketId ?? ''))
    .executeTakeFirst()
  return row?.last ?? undefined
}

const toReservation = (row: {
  readonly reservation_id: string
  readonly bucket_id: string
  readonly object_key: string
  readonly version: string
}): ReservationRow => ({
  reservationId: row.reservation_id,
  bucketId: row.bucket_id,
  key: row.object_key,
  version: row.version,
})
