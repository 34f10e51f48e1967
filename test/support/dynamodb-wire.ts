import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { systemClock } from '#base/clock.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Table } from '#runtime/tables/table.ts'

import { WireActions } from './dynamodb-wire/actions.ts'
import { WireBatches } from './dynamodb-wire/batches.ts'
import { WireEngine } from './dynamodb-wire/engine.ts'
import { answer, type Protocol } from './dynamodb-wire/protocol.ts'
import { StoredTables } from './dynamodb-wire/stored-tables.ts'
import { tableNameOf } from './dynamodb-wire/table-arn.ts'
import { TableCatalog } from './dynamodb-wire/table-catalog.ts'

export interface DynamoDbWireOptions {
  readonly database: Database
  /** 0 or left out for any free port. */
  readonly port?: number
  /** How long tables stay CREATING, UPDATING and DELETING; 100. */
  readonly transitionMs?: number
  /** Called with an error that DynamoDB would not answer with. */
  readonly onFault: (fault: unknown) => void
}

export interface DynamoDbWire extends AsyncDisposable {
  /** `http://127.0.0.1:{port}` */
  readonly endpoint: string
  /** What is behind it, for a test that compares the two ways. */
  readonly engine: WireEngine
  tableOf(name: string): Table
}

const TRANSITION_MS = 100
/** Long enough for a client that is busy with something else. */
const KEEP_ALIVE_MS = 120_000

/** Croft's tables behind DynamoDB's JSON protocol, on this machine alone: all are tables of one new site. */
export async function startDynamoDbWire(options: DynamoDbWireOptions): Promise<DynamoDbWire> {
  const { database, onFault } = options
  const siteId = await newSite(database)
  const stopping = new AbortController()
  const store = new StoredTables({ siteId, database, signal: stopping.signal })
  const deps = { database, clock: systemClock, layouts: store.layouts }
  const engine = new WireEngine(deps)
  const transitionMs = options.transitionMs ?? TRANSITION_MS
  const catalog = new TableCatalog({ store, transitionMs, onFault })
  const places = {
    engine,
    batches: new WireBatches(deps),
    tableOf(name: string) {
      const wire = catalog.active(tableNameOf(name))
      return { wire, table: store.tableOf(wire) }
    },
  }
  const actions = new WireActions(places, catalog)
  const server = await listen(options.port ?? 0, {
    actions: actions.names,
    perform: (name, body, host) => actions.perform(name, body, host),
    onFault,
  })
  const { port } = server.address() as AddressInfo
  return {
    engine,
    tableOf: (name) => places.tableOf(name).table,
    endpoint: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      stopping.abort()
      await catalog[Symbol.asyncDispose]()
    },
  }
}

/** A site that nothing but the tables belongs to. */
async function newSite(database: Database): Promise<string> {
  const siteId = `dynamodb-${randomBytes(6).toString('hex')}`
  await database.withSite(siteId, (tx) =>
    tx.db
      .insertInto('site')
      .values({
        site_id: siteId,
        domain: `${siteId}.test`,
        region: 'local',
        source_mode: 'EXTERNAL_REPO',
        repo: JSON.stringify({}),
        repo_binding: null,
        deployment_settings: JSON.stringify({}),
        current_deployment_id: null,
      })
      .execute(),
  )
  return siteId
}

async function listen(port: number, protocol: Protocol): Promise<Server> {
  const server = createServer((incoming, response) => {
    answer(incoming, response, protocol).catch((fault: unknown) => {
      protocol.onFault(fault)
      response.destroy()
    })
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}
