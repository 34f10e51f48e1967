import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ObjectName } from './model.ts'
import type { OpenUploads } from './open-uploads.ts'

export interface ReservationRow extends ObjectName {
  readonly reservationId: string
  /** The object's, when this was reserved. */
  readonly version: string
}

const RESERVATION = [
  'reservation.reservation_id as reservationId',
  'reservation.bucket_id as bucketId',
  'reservation.object_key as key',
  'reservation.version',
] as const

export async function insertReservation(
  tx: SiteTx,
  reservation: ReservationRow & {
    readonly sizeBytes: number
    readonly kind: 'write' | 'url'
    readonly expiresAt: Date
    /** Whose open uploads it is counted among. */
    readonly holder?: string
  },
): Promise<void> {
  const { reservationId, bucketId, key, sizeBytes, kind, version, expiresAt, holder } = reservation
  await sql`
    insert into bucket_reservation
      (site_id, reservation_id, bucket_id, object_key, size_bytes, kind, version, expires_at, holder)
    values (${tx.siteId}, ${reservationId}, ${bucketId}, ${key}, ${String(sizeBytes)}::bigint, ${kind},
      ${version}::bigint, ${expiresAt}, ${holder ?? null})`.execute(tx.db)
}

/** What was given to one holder and to all of them, and what arrives now by it; URLs for one key are one promise. */
export async function selectOpenUploads(
  tx: SiteTx,
  holder: string,
): Promise<{ readonly one: OpenUploads; readonly all: OpenUploads } | undefined> {
  const { rows } = await sql<OpenUploads & { readonly isOne: boolean }>`
    select promise.holder = ${holder} as "isOne", sum(promise.urls)::float8 as urls,
      sum(greatest(0, promise.bytes - coalesce(object.size_bytes, 0)))::float8 as bytes,
      min(promise.next_end) as "nextEnd"
    from (
      select holder, bucket_id, object_key, max(size_bytes) as bytes, count(*) filter (where kind = 'url') as urls,
        min(expires_at) as next_end
      from bucket_reservation
      where site_id = ${tx.siteId} and holder is not null
      group by holder, bucket_id, object_key
    ) promise
    left join bucket_object object on object.site_id = ${tx.siteId}
      and object.bucket_id = promise.bucket_id and object.object_key = promise.object_key
    group by 1`.execute(tx.db)
  const one = rows.find(({ isOne }) => isOne)
  return one && { one, all: rows.filter((each) => each !== one).reduce(plus, one) }
}

const plus = (one: OpenUploads, other: OpenUploads): OpenUploads => ({
  bytes: one.bytes + other.bytes,
  urls: one.urls + other.urls,
  nextEnd: one.nextEnd < other.nextEnd ? one.nextEnd : other.nextEnd,
})

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

export function selectExpired(tx: SiteTx, now: Date, limit: number): Promise<ReservationRow[]> {
  return tx.db
    .selectFrom('bucket_reservation as reservation')
    .select(RESERVATION)
    .where('site_id', '=', tx.siteId)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
}

/** Open URLs under whose key nothing has been seen since they were given out. */
export function selectUnseen(tx: SiteTx, after: string, limit: number): Promise<ReservationRow[]> {
  return tx.db
    .selectFrom('bucket_reservation as reservation')
    .innerJoin('bucket_object as object', (join) =>
      join
        .onRef('object.site_id', '=', 'reservation.site_id')
        .onRef('object.bucket_id', '=', 'reservation.bucket_id')
        .onRef('object.object_key', '=', 'reservation.object_key')
        .onRef('object.version', '=', 'reservation.version'),
    )
    .select(RESERVATION)
    .where('reservation.site_id', '=', tx.siteId)
    .where('reservation.kind', '=', 'url')
    .where('reservation.reservation_id', '>', after)
    .orderBy('reservation.reservation_id')
    .limit(limit)
    .execute()
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
