import { systemClock } from '#base/clock.ts'
import { randomIds } from '#base/ids.ts'
import { PageTokens } from '#base/page.ts'
import { ENOUGH_ROOM } from '#platform/disk/disk-room.ts'
import type { SqlClient } from '#platform/postgres/client.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { openQueue } from '#platform/queue/postgres-queue.ts'
import { openTables } from '#runtime/tables/open-tables.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'
import type { Table } from '#runtime/tables/table.ts'
import { silentLog as log } from '#test/silent-log.ts'

import {
  type Contender,
  ITEMS,
  PAGE_ITEMS,
  PARTITION_ITEMS,
  itemOf,
  keyOf,
  startOf,
} from './contender.ts'

const SITE = 'site_bench'
const ITEM_TABLE: Table = {
  siteId: SITE,
  tableId: 'res_items',
  schema: { partitionKey: { name: 'id', type: 'S' } },
}
const EVENT_TABLE: Table = {
  siteId: SITE,
  tableId: 'res_events',
  schema: { partitionKey: { name: 'feed', type: 'S' }, sortKey: { name: 'pos', type: 'S' } },
}
const BATCH = 25

/** What site code and the admin's routes call, in this process, quota and all: plain JSON in, plain JSON out. */
export async function ourTables(
  platform: PostgresPlatform,
  owner: SqlClient,
  running: AsyncDisposableStack,
): Promise<Contender> {
  const queue = running.use(await openQueue({ ...platform, log }))
  const { tables, tableQuotas } = openTables({
    database: platform.database,
    clock: systemClock,
    ids: randomIds,
    logger: log,
    queue,
    pageTokens: new PageTokens(Buffer.alloc(32)),
    disk: ENOUGH_ROOM,
  })
  running.use(tableQuotas)
  await defineTables(owner)
  for (let index = 0; index < ITEMS; index += BATCH) {
    const puts = Array.from({ length: BATCH }, (_, at) => itemOf(index + at))
    await tables.perform(ITEM_TABLE, 'batch-write', { puts })
  }
  await loadPartition(owner)
  return {
    name: 'tables',
    async get(index) {
      const found = await tables.perform(ITEM_TABLE, 'get', { key: keyOf(index) })
      if (!('item' in found) || found.item?.['id'] !== keyOf(index).id)
        throw new Error('tables found no item')
    },
    async put(index) {
      await tables.perform(ITEM_TABLE, 'put', { item: itemOf(index) })
    },
    async query(index) {
      const page = await tables.perform(EVENT_TABLE, 'query', {
        keyConditionExpression: 'feed = :feed AND pos >= :pos',
        expressionAttributeValues: { ':feed': 'all', ':pos': startOf(index) },
        limit: PAGE_ITEMS,
      })
      if (!('count' in page) || page.count !== PAGE_ITEMS) throw new Error('tables found no page')
    },
  }
}

async function defineTables(owner: SqlClient): Promise<void> {
  await owner`insert into site (site_id, domain, region, source_mode, repo, deployment_settings)
    values (${SITE}, 'bench.test', 'local', 'EXTERNAL_REPO', '{}', '{}')`
  for (const { tableId, schema } of [ITEM_TABLE, EVENT_TABLE]) {
    await owner`insert into data_resource (site_id, resource_id, type, name, config)
      values (${SITE}, ${tableId}, 'ddbTable', ${tableId}, ${JSON.stringify(schema)}::jsonb)`
  }
}

/** A million rows as the store writes them, made inside Postgres. */
async function loadPartition(owner: SqlClient): Promise<void> {
  const first = { feed: { S: 'all' }, pos: { S: startOf(0) } }
  const { hash } = itemKeyOf(first, EVENT_TABLE.schema)
  await owner`insert into table_item
      (site_id, table_id, partition_hash, sort_key, size_bytes, body)
    select ${SITE}, ${EVENT_TABLE.tableId}, ${hash}, convert_to(lpad(at::text, 7, '0'), 'UTF8'), 60,
      format('{"feed":"all","pos":"%s","kind":"visit","path":"/page/%s","ms":%s}',
        lpad(at::text, 7, '0'), at, at % 500)
    from generate_series(0, ${PARTITION_ITEMS - 1}::int) as at`
  await owner`vacuum analyze table_item`
}
