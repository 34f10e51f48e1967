import { sql } from 'kysely'

import { type Actor, actorId, originOfActor } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import {
  FREQUENT_EVENTS,
  type SecurityEvent,
  type SecurityEventFilter,
  type SecurityEventRecord,
} from './model.ts'

const MAX_EMAIL = 254

/** Where a page of the trail starts: after this event. */
interface EventCursor {
  readonly at: Date
  readonly eventId: string
}

export async function insertEvent(
  tx: SiteTx,
  event: SecurityEvent,
  stamp: { readonly eventId: string; readonly at: Date },
): Promise<void> {
  await tx.db
    .insertInto('security_event')
    .values({
      site_id: tx.siteId,
      event_id: stamp.eventId,
      at: stamp.at,
      event: event.event,
      ...columnsOf(event),
      detail: JSON.stringify(event.detail ?? {}),
    })
    .execute()
}

/** Each column always, so that one event is one statement whatever is known about it. */
const columnsOf = ({ pool, sub, email, actor, by, clientId, origin }: SecurityEvent) => ({
  pool: pool ?? null,
  sub: sub ?? null,
  email: email === undefined ? null : storable(email),
  actor: by ? namedActor(by) : (actor ?? null),
  client_id: clientId ?? null,
  ...originColumns(by ? originOfActor(by) : origin),
})

/** The owner is who the event is about; the service itself is not named. */
const namedActor = (by: Actor): string | null =>
  by.type === 'owner' || by.type === 'system' ? null : actorId(by)

const originColumns = (origin: SecurityEvent['origin']) => ({
  address: origin?.address ?? null,
  user_agent: origin?.userAgent ?? null,
  request_id: origin?.requestId ?? null,
})

/** Newest first. */
export function selectEvents(
  tx: SiteTx,
  { event, sub, email, since, until }: SecurityEventFilter,
  page: { readonly limit: number; readonly after: EventCursor | undefined },
): Promise<SecurityEventRecord[]> {
  const { after } = page
  let query = tx.db
    .selectFrom('security_event')
    .select([
      'event_id as eventId',
      'at',
      'event',
      'pool',
      'sub',
      'email',
      'actor',
      'client_id as clientId',
      'address',
      'user_agent as userAgent',
      'request_id as requestId',
      'detail',
    ])
    .where('site_id', '=', tx.siteId)
  if (event !== undefined) query = query.where('event', '=', event)
  if (sub !== undefined) query = query.where('sub', '=', sub)
  if (email !== undefined) query = query.where('email', '=', email)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  if (after !== undefined) {
    query = query.where(sql<boolean>`(at, event_id) < (${after.at}, ${after.eventId})`)
  }
  return query.orderBy('at', 'desc').orderBy('event_id', 'desc').limit(page.limit).execute()
}

/** Takes away at most `batch` events that are too old, or frequent and not among the newest; two sweeps share the work. */
export async function deleteOldEvents(
  tx: SiteTx,
  bounds: { readonly before: Date; readonly kept: number; readonly batch: number },
): Promise<number> {
  const oldestKept = sql<Date>`(select min(at) from (
    select at from security_event where site_id = ${tx.siteId}
    order by at desc limit ${bounds.kept}) as kept)`
  const { numDeletedRows } = await tx.db
    .deleteFrom('security_event')
    .where('site_id', '=', tx.siteId)
    .where(sql<string>`ctid`, 'in', (from) =>
      from
        .selectFrom('security_event')
        .select(sql<string>`ctid`.as('ctid'))
        .where('site_id', '=', tx.siteId)
        .where('at', '<', sql<Date>`greatest(${bounds.before}, ${oldestKept})`)
        .where((where) =>
          where.or([where('at', '<', bounds.before), where('event', 'in', FREQUENT_EVENTS)]),
        )
        .orderBy('at')
        .limit(bounds.batch)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Typed input as an address must not be able to fail the insert. */
const storable = (text: string): string =>
  text.replaceAll('\0', '').toWellFormed().slice(0, MAX_EMAIL)
