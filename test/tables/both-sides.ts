import { AppError } from '#base/app-error.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { TableSchema } from '#runtime/tables/items/key-schema.ts'
import type { Table } from '#runtime/tables/table.ts'
import { WIRE } from '#test/dynamodb-wire/codec.ts'
import type { WireEngine } from '#test/dynamodb-wire/engine.ts'

import type { Action, Answer, TableRequest } from './answer.ts'
import type { Endpoint } from './endpoint.ts'

/** How a request reaches our tables: over the wire, or straight into the engine. */
export type Way = 'wire' | 'engine'

/** One table that both sides have under the same name. */
export class BothSides {
  readonly name: string
  readonly schema: TableSchema
  readonly #oracle: Endpoint
  readonly #wire: Endpoint
  readonly #engine: WireEngine
  readonly #table: Table

  constructor(deps: {
    readonly table: Table
    readonly name: string
    readonly oracle: Endpoint
    readonly wire: Endpoint
    readonly engine: WireEngine
  }) {
    this.name = deps.name
    this.schema = deps.table.schema
    this.#oracle = deps.oracle
    this.#wire = deps.wire
    this.#engine = deps.engine
    this.#table = deps.table
  }

  theirs({ action, body }: TableRequest): Promise<Answer> {
    return this.#oracle.call(action, { TableName: this.name, ...body })
  }

  ours({ action, body }: TableRequest, way: Way): Promise<Answer> {
    if (way === 'wire') return this.#wire.call(action, { TableName: this.name, ...body })
    return this.#directly(action, body)
  }

  /** Our item with the key of a request; undefined when there is none or the key is none. */
  async stored({ body }: TableRequest): Promise<Item | undefined> {
    const given = body['Key'] ?? body['Item']
    if (typeof given !== 'object' || given === null) return undefined
    const { partitionKey, sortKey } = this.schema
    const names = [partitionKey.name, ...(sortKey ? [sortKey.name] : [])]
    const Key = Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)))
    const answer = await this.#directly('GetItem', { Key })
    return answer.ok ? (answer.body['Item'] as Item | undefined) : undefined
  }

  /** All of our items, as far as one page holds them. */
  async everything(): Promise<readonly Item[]> {
    const { Items } = await this.#engine.perform(this.#table, 'Scan', {}, WIRE)
    return Items as readonly Item[]
  }

  /** Makes dynalite's item what ours is. */
  async mend(request: TableRequest): Promise<void> {
    const item = await this.stored(request)
    if (item !== undefined) {
      await this.theirs({ action: 'PutItem', body: { Item: item } })
      return
    }
    const given = Object(request.body['Key'] ?? request.body['Item']) as Item
    const { partitionKey, sortKey } = this.schema
    const names = [partitionKey.name, ...(sortKey ? [sortKey.name] : [])]
    const Key = Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)))
    await this.theirs({ action: 'DeleteItem', body: { Key } })
  }

  async #directly(action: Action, body: TableRequest['body']): Promise<Answer> {
    try {
      return { ok: true, body: await this.#engine.perform(this.#table, action, body, WIRE) }
    } catch (fault) {
      if (!(fault instanceof AppError)) throw fault
      const type =
        fault.code === 'ConditionalCheckFailed'
          ? 'ConditionalCheckFailedException'
          : fault.code === 'ValidationError'
            ? 'ValidationException'
            : fault.code
      return { ok: false, type, message: fault.message }
    }
  }
}
