import { PgBoss } from 'pg-boss'

import type { SqlClient } from '#platform/postgres/client.ts'

import { bossOnClient } from './boss-database.ts'
import { installTurns } from './install-turns.ts'
import { QUEUE_POLICIES, type QueuePolicy, deadLetterQueue } from './queue-policies.ts'
import type { QueueName } from './queue.ts'

const A_YEAR = 365 * 24 * 3600
const A_DAY = 24 * 3600

/** How long after its last sign of life a worker counts as dead; the shortest that pg-boss knows. */
const HEARTBEAT_SECONDS = 10

/** Creates or updates pg-boss's own schema and our queues in it, as the owner. Safe to run again, and at once. */
export async function installQueue(
  owner: SqlClient,
  policies: Partial<Record<QueueName, QueuePolicy>> = QUEUE_POLICIES,
): Promise<void> {
  const boss = new PgBoss({ db: bossOnClient(owner), supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  try {
    await noteHolders(owner)
    await installTurns(owner)
    for (const [name, policy] of Object.entries(policies)) {
      await installOne(boss, name as QueueName, policy)
    }
  } finally {
    await boss.stop({ graceful: false, close: false })
  }
}

/** What the app role needs to work the queues: rows, never the schema. */
export async function grantQueue(owner: SqlClient, role: string): Promise<void> {
  const to = owner(role)
  await owner`grant usage on schema pgboss to ${to}`
  await owner`grant select, insert, update, delete on all tables in schema pgboss to ${to}`
  await owner`grant usage, select on all sequences in schema pgboss to ${to}`
}

async function installOne(boss: PgBoss, name: QueueName, policy: QueuePolicy): Promise<void> {
  const dead = deadLetterQueue(name)
  const settings = {
    deadLetter: dead,
    retryLimit: policy.retries,
    retryDelay: policy.firstRetrySeconds,
    retryBackoff: true,
    retryDelayMax: policy.lastRetrySeconds,
    expireInSeconds: policy.maxRunSeconds,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retentionSeconds: A_YEAR,
    deleteAfterSeconds: A_DAY,
  }
  if (!(await boss.getQueue(dead))) await boss.createQueue(dead, { retentionSeconds: A_YEAR })
  // "short": one job for each key waits, any number run.
  if (!(await boss.getQueue(name))) await boss.createQueue(name, { policy: 'short', ...settings })
  else await boss.updateQueue(name, settings)
}

/**
 * Has the database note at each job which process claimed it: pg-boss has no such column, and what notes it after the
 * claim may die between the two. A session that has no name leaves none.
 */
async function noteHolders(owner: SqlClient): Promise<void> {
  // A statement that alters a table waits for all who use it, also where there is nothing to alter.
  const [noted] = await owner`
    select 1 from pg_attribute
    where attrelid = 'pgboss.job'::regclass and attname = 'holder' and not attisdropped`
  if (noted) return
  await owner.unsafe(`
    alter table pgboss.job add column holder int;
    create index job_holder on pgboss.job (holder) where state = 'active' and holder is not null;
    create function pgboss.note_holder() returns trigger language plpgsql as $$
    begin
      new.holder := nullif(current_setting('croft.holder', true), '')::int;
      return new;
    end $$;
    create trigger note_holder before update on pgboss.job
      for each row when (new.state = 'active' and old.state is distinct from new.state)
      execute function pgboss.note_holder();
  `)
}
