import type { SiteTx } from '#platform/postgres/database.ts'

import type { SecurityEvent } from './model.ts'

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
      pool: event.pool,
      sub: event.sub,
      email: event.email,
      actor: event.actor,
      client_id: event.clientId,
      address: event.origin?.address,
      user_agent: event.origin?.userAgent,
      request_id: event.origin?.requestId,
      detail: JSON.stringify(event.detail ?? {}),
    })
    .execute()
}
