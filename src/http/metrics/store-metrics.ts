import type { WatchedDisk } from '#platform/disk/disk-room.ts'
import type { PoolStatus } from '#platform/postgres/pool-activity.ts'
import type { RedisActivity } from '#platform/redis/redis-activity.ts'

import type { Installation } from './installation.ts'
import { type Metric, type MetricSample, gauge, lasting, tallied } from './metric.ts'

/** PostgreSQL, Redis and the disk. */
export const STORE_METRICS: readonly Metric<Installation>[] = [
  {
    name: 'croft_postgres_up',
    type: 'gauge',
    help: '0 while PostgreSQL does not answer, and what needs it is refused at once.',
    labels: [],
    read: ({ context }) => [gauge(context.postgres.status().isUp ? 1 : 0)],
  },
  {
    name: 'croft_postgres_connections',
    type: 'gauge',
    help: 'Connections by pool and state: max may be open, open are, busy ones are used.',
    labels: ['pool', 'state'],
    read: (installation) =>
      perPool(installation, ({ max, open, busy }, pool) =>
        tallied('state', Object.entries({ max, open, busy }), { pool }),
      ),
  },
  {
    name: 'croft_postgres_waiting',
    type: 'gauge',
    help: 'Transactions and statements that wait for a connection.',
    labels: ['pool'],
    read: (installation) =>
      perPool(installation, ({ waiting }, pool) => [gauge(waiting, { pool })]),
  },
  {
    name: 'croft_postgres_wait_seconds',
    type: 'histogram',
    help: 'Time that those waited who found no connection free.',
    labels: ['pool'],
    read: (installation) =>
      perPool(installation, ({ activity }, pool) => [lasting(activity.waits, { pool })]),
  },
  {
    name: 'croft_postgres_statement_duration_seconds',
    type: 'histogram',
    help: 'Time of statements, seen from here.',
    labels: ['pool'],
    read: (installation) =>
      perPool(installation, ({ activity }, pool) => [lasting(activity.statements, { pool })]),
  },
  {
    name: 'croft_postgres_failures_total',
    type: 'counter',
    help: 'Statements without an answer: the connection was lost, none came free in time (busy), or there was no answer (away).',
    labels: ['pool', 'reason'],
    read: (installation) =>
      perPool(installation, ({ activity }, pool) =>
        tallied('reason', activity.failures.entries(), { pool }),
      ),
  },
  {
    name: 'croft_redis_commands_total',
    type: 'counter',
    help: 'Commands to Redis by use; skipped ones were not sent because Redis had just not answered.',
    labels: ['use', 'outcome'],
    read: (installation) =>
      perRedis(installation, ({ commands }, use) =>
        tallied('outcome', commands.entries(), { use }),
      ),
  },
  {
    name: 'croft_redis_command_duration_seconds',
    type: 'histogram',
    help: 'Time of commands to Redis, by use.',
    labels: ['use'],
    read: (installation) =>
      perRedis(installation, ({ durations }, use) => [lasting(durations, { use })]),
  },
  {
    name: 'croft_last_backup_timestamp_seconds',
    type: 'gauge',
    help: 'Moment of the newest backup by croft backup, in seconds of the epoch; 0 before the first.',
    labels: [],
    read: ({ lastBackup }) => (lastBackup === undefined ? [] : [gauge(lastBackup)]),
  },
  {
    name: 'croft_disk_size_bytes',
    type: 'gauge',
    help: 'Size of the file systems that are watched: of the data folder, an embedded database, objects in files.',
    labels: ['place'],
    read: (installation) => perDisk(installation, ({ totalBytes }) => totalBytes),
  },
  {
    name: 'croft_disk_free_bytes',
    type: 'gauge',
    help: 'What may still be written on them.',
    labels: ['place'],
    read: (installation) => perDisk(installation, ({ freeBytes }) => freeBytes),
  },
  {
    name: 'croft_disk_reserve_bytes',
    type: 'gauge',
    help: 'Below so much what makes a place grow is refused with 503 DiskFull.',
    labels: ['place'],
    read: (installation) => perDisk(installation, ({ reserveBytes }) => reserveBytes),
  },
  {
    name: 'croft_disk_full',
    type: 'gauge',
    help: '1 while it is refused.',
    labels: ['place'],
    read: (installation) => perDisk(installation, ({ isFull }) => (isFull ? 1 : 0)),
  },
]

const perDisk = (
  { context }: Installation,
  measure: (disk: WatchedDisk) => number,
): MetricSample[] => context.disk.disks.map((disk) => gauge(measure(disk), { place: disk.place }))

function perPool(
  { context }: Installation,
  read: (status: PoolStatus, pool: string) => MetricSample[],
): MetricSample[] {
  const { pools } = context.postgres.status()
  return Object.entries(pools).flatMap(([pool, status]) => read(status, pool))
}

function perRedis(
  { context: { sharedCache, counters } }: Installation,
  read: (activity: RedisActivity, use: string) => MetricSample[],
): MetricSample[] {
  const uses = { cache: sharedCache.redisActivity, counters: counters.redisActivity }
  return Object.entries(uses).flatMap(([use, activity]) =>
    activity === undefined ? [] : read(activity, use),
  )
}
