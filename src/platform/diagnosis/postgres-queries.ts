import type { RunStatement } from '#platform/postgres/pooled-connection.ts'
import { PRESENCE_LOCK } from '#platform/postgres/presence.ts'

/** What a server says of itself. */
export interface ServerFacts {
  readonly version: string
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly autovacuum: string
  readonly isStandby: boolean
  /** The connections open to roles other than superusers. */
  readonly maxConnections: number
  readonly connections: number
  /** Transactions since the oldest row that is not frozen; at two thousand million the server takes no more. */
  readonly transactionAge: number
  /** Processes of Croft on this database, this one among them. */
  readonly replicas: number
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

const FACTS = `
  select current_setting('server_version') as "version",
         current_setting('fsync') as "fsync",
         current_setting('full_page_writes') as "fullPageWrites",
         current_setting('synchronous_commit') as "synchronousCommit",
         current_setting('autovacuum') as "autovacuum",
         pg_is_in_recovery() as "isStandby",
         current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int as "maxConnections",
         (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "connections",
         (select max(age(datfrozenxid))::int from pg_database) as "transactionAge",
         (select count(distinct objid)::int from pg_locks
           where locktype = 'advisory' and classid = $1 and granted
             and database = (select oid from pg_database where datname = current_database())) as "replicas",
         (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`

/** The least that a statement takes which asks for nothing. */
export const selectNothing = async (run: RunStatement): Promise<void> =>
  void (await run('select 1', []))

export async function selectServerFacts(run: RunStatement): Promise<ServerFacts> {
  const { rows } = await run<ServerFacts>(FACTS, [PRESENCE_LOCK])
  const [facts] = rows
  if (!facts) throw new Error('The server says nothing of itself')
  return facts
}
