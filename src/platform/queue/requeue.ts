import type { Job } from 'pg-boss'

import type { SqlClient } from '#platform/postgres/client.ts'

/**
 * Gives back a job that was claimed and never started: the next worker has it at once, with as many retries left. The
 * next claim counts as another attempt, so pg-boss's own settling of this one finds nothing to settle.
 */
export async function requeue(
  sql: SqlClient,
  queue: string,
  { id, retryCount }: Job<object>,
): Promise<void> {
  await sql`
    with given as (
      update pgboss.job
      set state = 'retry', retry_limit = retry_limit + 1, start_after = now(), heartbeat_on = null
      where name = ${queue} and id = ${id} and state = 'active' and retry_count = ${retryCount}
      returning name)
    select pg_notify('croft_queue', json_build_object('queue', name)::text) from given`
}
