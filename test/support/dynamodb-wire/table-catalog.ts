import { setTimeout as delay } from 'node:timers/promises'

import { checkCreation } from './create-table-rules.ts'
import type { CreateTable, UpdateTable, UpdateTimeToLive } from './table-requests.ts'
import { checkTags } from './tag-rules.ts'
import { checkUpdate, checkUpdateOf } from './update-table-rules.ts'
import { updatedTable, settledTable } from './updated-table.ts'
import { dynamoError, validationFault, type WireError } from './wire-error.ts'
import {
  describe,
  describeDeletion,
  EMPTY,
  type Measured,
  newTable,
  type WireTable,
} from './wire-table.ts'

const LIST_LIMIT = 100

/** Where the tables' resources and items are. */
export interface TableStore {
  add(table: WireTable): Promise<void>
  /** After its indexes or its time to live changed; resolves when they are built. */
  change(table: WireTable): Promise<void>
  remove(table: WireTable): Promise<void>
  measure(table: WireTable): Promise<Measured>
}

/** The tables of the endpoint, with the states that DynamoDB lets them go through. */
export class TableCatalog {
  readonly #tables = new Map<string, WireTable>()
  readonly #store: TableStore
  readonly #transitionMs: number
  readonly #closing = new AbortController()
  readonly #transitions = new Set<Promise<void>>()
  readonly #onFault: (fault: unknown) => void

  constructor(deps: {
    readonly store: TableStore
    /** How long a table is CREATING, UPDATING or DELETING, beside what the work takes. */
    readonly transitionMs: number
    readonly onFault: (fault: unknown) => void
  }) {
    this.#store = deps.store
    this.#transitionMs = deps.transitionMs
    this.#onFault = deps.onFault
  }

  /** A table that items can be read from and written to. */
  active(name: string): WireTable {
    const table = this.#tables.get(name)
    if (table && table.status !== 'CREATING' && table.status !== 'DELETING') return table
    throw dynamoError('ResourceNotFoundException', 'Requested resource not found')
  }

  known(name: string): WireTable {
    const table = this.#tables.get(name)
    if (table) return table
    throw dynamoError(
      'ResourceNotFoundException',
      `Requested resource not found: Table: ${name} not found`,
    )
  }

  create(request: CreateTable): object {
    checkCreation(request)
    checkTags(request.Tags ?? [])
    if (this.#tables.has(request.TableName)) {
      throw inUse(`Table already exists: ${request.TableName}`)
    }
    const table = newTable(request)
    this.#tables.set(table.name, table)
    this.#later(async () => {
      await this.#store.add(table)
      await this.#pause()
      this.#tables.set(table.name, settledTable(this.known(table.name)))
    })
    return { TableDescription: describe(table, EMPTY) }
  }

  async describe(name: string): Promise<object> {
    const table = this.known(name)
    const isStored = table.status === 'ACTIVE' || table.status === 'UPDATING'
    const measured = isStored ? await this.#store.measure(table) : EMPTY
    return { Table: describe(table, measured) }
  }

  list({ Limit: limit = LIST_LIMIT, ExclusiveStartTableName: after = '' }: ListTables): object {
    const names = [...this.#tables.keys()].filter((name) => name > after).toSorted()
    const page = names.slice(0, limit)
    const more = names.length > limit && { LastEvaluatedTableName: page.at(-1) }
    return { TableNames: page, ...more }
  }

  delete(name: string): object {
    const table = this.known(name)
    if (table.status === 'CREATING') {
      throw inUse(
        `Attempt to change a resource which is still in use: Table is being created: ${name}`,
      )
    }
    if (table.status === 'DELETING') {
      throw inUse(
        `Attempt to change a resource which is still in use: Table is being deleted: ${name}`,
      )
    }
    if (table.isProtected) {
      throw validationFault(
        `Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.`,
      )
    }
    const deleting: WireTable = {
      ...table,
      status: 'DELETING',
      indexes: table.indexes.filter((index) => index.scope === 'local'),
    }
    this.#tables.set(name, deleting)
    this.#later(async () => {
      await this.#store.remove(table)
      await this.#pause()
      this.#tables.delete(name)
    })
    return { TableDescription: describeDeletion(deleting) }
  }

  async update(request: UpdateTable): Promise<object> {
    checkUpdate(request)
    const table = this.known(request.TableName)
    checkUpdateOf(table, request)
    this.#requireSettled(table)
    const updating = updatedTable(table, request, 'in progress')
    this.#tables.set(table.name, updating)
    const measured = await this.#store.measure(table)
    this.#later(async () => {
      await this.#store.change(settledTable(updating))
      await this.#pause()
      this.#tables.set(table.name, settledTable(updatedTable(table, request, 'done')))
    })
    return { TableDescription: describe(updating, measured) }
  }

  timeToLive(name: string): object {
    const { ttlAttribute } = this.known(name)
    return {
      TimeToLiveDescription:
        ttlAttribute === undefined
          ? { TimeToLiveStatus: 'DISABLED' }
          : { TimeToLiveStatus: 'ENABLED', AttributeName: ttlAttribute },
    }
  }

  async updateTimeToLive(request: UpdateTimeToLive): Promise<object> {
    const { Enabled: isEnabled, AttributeName: attribute } = request.TimeToLiveSpecification
    this.known(request.TableName)
    const { ttlAttribute, ...table } = this.active(request.TableName)
    checkTimeToLive(ttlAttribute, request.TimeToLiveSpecification)
    const changed: WireTable = isEnabled ? { ...table, ttlAttribute: attribute } : table
    await this.#store.change(changed)
    this.#tables.set(table.name, changed)
    return { TimeToLiveSpecification: request.TimeToLiveSpecification }
  }

  tag(name: string, tags: ReadonlyMap<string, string>): void {
    this.#tables.set(name, { ...this.known(name), tags })
  }

  /** Waits for what is in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#transitions)
  }

  #requireSettled(table: WireTable): void {
    if (table.status === 'ACTIVE') return
    const doing = { CREATING: 'created', UPDATING: 'updated', DELETING: 'deleted' }[table.status]
    throw inUse(
      `Attempt to change a resource which is still in use: Table is being ${doing}: ${table.name}`,
    )
  }

  #later(work: () => Promise<void>): void {
    const transition = work()
      .catch(this.#onFault)
      .finally(() => this.#transitions.delete(transition))
    this.#transitions.add(transition)
  }

  async #pause(): Promise<void> {
    const { signal } = this.#closing
    await delay(this.#transitionMs, undefined, { signal }).catch(() => {})
  }
}

function checkTimeToLive(
  known: string | undefined,
  { Enabled: isEnabled, AttributeName: asked }: UpdateTimeToLive['TimeToLiveSpecification'],
): void {
  if (known === undefined) {
    if (!isEnabled) throw validationFault('TimeToLive is already disabled')
    return
  }
  if (known !== asked) {
    throw validationFault(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${known}`,
    )
  }
  if (isEnabled) throw validationFault('TimeToLive is already enabled')
}

interface ListTables {
  readonly Limit?: number
  readonly ExclusiveStartTableName?: string
}

const inUse = (words: string): WireError => dynamoError('ResourceInUseException', words)
