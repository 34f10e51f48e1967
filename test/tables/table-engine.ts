import { randomUUID } from 'node:crypto'

import type { Clock } from '#base/clock.ts'
import { systemClock } from '#base/clock.ts'
import { ENOUGH_ROOM } from '#platform/disk/disk-room.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import { TableBuilds } from '#runtime/tables/store/table-builds.ts'
import { TableLayouts } from '#runtime/tables/store/table-layouts.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'
import type { Table } from '#runtime/tables/table.ts'
import { PLAIN } from '#test/dynamodb-wire/codec.ts'
import {
  type ActionAnswer,
  type ActionBody,
  type ItemAction,
  WireEngine,
} from '#test/dynamodb-wire/engine.ts'
import { silentLog } from '#test/silent-log.ts'

/** The engine on a database of its own, with a queue without workers. */
export interface EngineBench {
  readonly engine: WireEngine
  readonly layouts: TableLayouts
  readonly builds: TableBuilds
  readonly queue: PostgresQueue
  /** A table of a site, as a definition would make it. */
  create(siteId: string, schema: TableConfig): Promise<Table>
  /** Another definition of the same table. */
  change(table: Table, schema: TableConfig): Promise<Table>
  /** In plain JSON. */
  act(table: Table, action: ItemAction, body: ActionBody): Promise<ActionAnswer>
}

export async function openEngine(
  postgres: PostgresPlatform,
  clock: Clock = systemClock,
): Promise<EngineBench> {
  const { database } = postgres
  const queue = await openQueue({ ...postgres, log: silentLog })
  const builds = new TableBuilds({ database, clock, queue, disk: ENOUGH_ROOM })
  const layouts = new TableLayouts({
    database,
    requestBuild: (tx, tableId) => builds.request(tx, tableId),
  })
  const engine = new WireEngine({ database, clock, layouts })
  const define = (table: Table) =>
    database.withSite(table.siteId, (tx) => layouts.define(tx, table.tableId, table.schema))
  return {
    engine,
    layouts,
    builds,
    queue,
    async create(siteId, schema) {
      const table = { siteId, tableId: `res_${randomUUID().slice(0, 16)}`, schema }
      await define(table)
      return table
    },
    async change(table, schema) {
      await define({ ...table, schema })
      return { ...table, schema }
    },
    act: (table, action, body) => engine.perform(table, action, body, PLAIN),
  }
}

/** A site without anything else. */
export const insertSite = (postgres: PostgresPlatform, siteId: string): Promise<unknown> =>
  postgres.database.withSite(siteId, ({ db }) =>
    db
      .insertInto('site')
      .values({
        site_id: siteId,
        domain: `${siteId}.test`,
        region: 'eu-local-1',
        source_mode: 'SITE_GIT',
        repo_binding: JSON.stringify({ branch: 'main', artifactDirectory: 'dist' }),
        deployment_settings: JSON.stringify({}),
      })
      .execute(),
  )
