import { sql } from 'kysely'

import type { InboundMessage } from '#mail/inbound/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** It is never shown, so there is nothing to parse. */
export async function insertReturnedRaw(tx: SiteTx, arrival: InboundMessage): Promise<void> {
  await sql`
    insert into mail_raw (site_id, raw_id, size_bytes, sha256, envelope_from, client, trace_header,
                          authentication, parse_status, received_at)
    values (${tx.siteId}, ${arrival.rawId}, ${arrival.sizeBytes}, ${arrival.sha256},
            ${arrival.sender}, ${JSON.stringify(arrival.from)}::text::jsonb, ${arrival.traceHeader},
            ${JSON.stringify(arrival.authentication)}::text::jsonb, 'failed',
            ${arrival.receivedAt})`.execute(tx.db)
}
