import type { PageTokens } from '#base/page.ts'

import type { TableBatches } from './batches/service.ts'
import { PLAIN } from './codec.ts'
import type { ActionAnswer, ActionBody, ItemAction, TableEngine } from './engine.ts'
import { ACTION_FIELDS } from './plain/action-fields.ts'
import type {
  BatchGetAnswer,
  BatchWriteAnswer,
  ItemAnswer,
  PageAnswer,
  TableAnswer,
  TransactAnswer,
  WriteAnswer,
} from './plain/answers.ts'
import { bareKey } from './plain/bare-key.ts'
import { batchGetBody, batchWriteBody, transactWriteBody } from './plain/batch-requests.ts'
import { pageRequest } from './plain/page-place.ts'
import { pascalFields, readFields, type RequestFields } from './plain/request-fields.ts'
import { ReadLanes } from './read-lanes.ts'
import type { Table } from './table.ts'

export const TABLE_ACTIONS = [
  'get',
  'query',
  'scan',
  'put',
  'update',
  'delete',
  'batch-get',
  'batch-write',
  'transact-write',
] as const
export type TableAction = (typeof TABLE_ACTIONS)[number]

/** Items; reading so many holds the process for some milliseconds. */
const LARGE_PAGE = 500

type PlainItem = Record<string, unknown>

const PAGES = { query: 'Query', scan: 'Scan' } as const
const WRITES = { put: 'PutItem', update: 'UpdateItem', delete: 'DeleteItem' } as const

interface Page {
  readonly Items?: PlainItem[]
  readonly Count: number
  readonly ScannedCount: number
  readonly LastEvaluatedKey?: PlainItem
}

interface Batch {
  readonly Responses: Readonly<Record<string, PlainItem[]>>
  readonly UnprocessedKeys: Readonly<Record<string, { readonly Keys: PlainItem[] }>>
}

/** A site's tables as its people and its code use them: plain JSON in, plain JSON out. */
export class Tables {
  readonly #engine: TableEngine
  readonly #batches: TableBatches
  readonly #pageTokens: PageTokens
  readonly #lanes = new ReadLanes()

  constructor(deps: { engine: TableEngine; batches: TableBatches; pageTokens: PageTokens }) {
    this.#engine = deps.engine
    this.#batches = deps.batches
    this.#pageTokens = deps.pageTokens
  }

  /**
   * Performs an action; the shapes of its answers are in `plain/answers.ts`. `input` comes from JSON whose depth the
   * caller has bounded. Throws `ValidationError`, `InvalidNextToken`, `ConditionalCheckFailed`, `TransactionCanceled`
   * and `IdempotencyKeyReused`.
   */
  async perform(table: Table, action: TableAction, input: unknown): Promise<TableAnswer> {
    switch (action) {
      case 'get':
        return this.get(table, input)
      case 'query':
      case 'scan':
        return this.page(table, action, input)
      case 'put':
      case 'update':
      case 'delete':
        return this.write(table, action, input)
      case 'batch-get':
        return this.batchGet(table, input)
      case 'batch-write':
        return this.batchWrite(table, input)
      case 'transact-write':
        return this.transactWrite(table, input)
      default:
        return action satisfies never
    }
  }

  /** `{ key, projectionExpression?, expressionAttributeNames?, consistentRead? }`, or the bare key. */
  async get(table: Table, input: unknown): Promise<ItemAnswer> {
    const fields = bareKey(table.schema, input) ?? readFields(ACTION_FIELDS.get, input)
    const { Item } = await this.#one(table, 'GetItem', fields)
    return { item: (Item as PlainItem | undefined) ?? null }
  }

  async page(table: Table, action: 'query' | 'scan', input: unknown): Promise<PageAnswer> {
    const fields = readFields(ACTION_FIELDS[action], input)
    const { request, scope, startKey } = pageRequest(table, action, fields, this.#pageTokens)
    const started = startKey === undefined ? request : { ...request, exclusiveStartKey: startKey }
    const answer = await this.#lanes.run(
      table.siteId,
      async () => (await this.#one(table, PAGES[action], started)) as unknown as Page,
      (page) => isLarge(page, fields['limit']),
    )
    const { LastEvaluatedKey: lastEvaluatedKey } = answer
    const place = lastEvaluatedKey && JSON.stringify(lastEvaluatedKey)
    return {
      items: answer.Items ?? [],
      count: answer.Count,
      scannedCount: answer.ScannedCount,
      ...(lastEvaluatedKey && { lastEvaluatedKey }),
      nextToken: this.#pageTokens.seal(scope, place),
    }
  }

  async write(
    table: Table,
    action: 'put' | 'update' | 'delete',
    input: unknown,
  ): Promise<WriteAnswer> {
    const fields = readFields(ACTION_FIELDS[action], input)
    const { Attributes } = await this.#one(table, WRITES[action], fields)
    return { ok: true, ...(Attributes !== undefined && { attributes: Attributes as PlainItem }) }
  }

  /** `{ keys, projectionExpression?, expressionAttributeNames?, consistentRead? }`: at most 100 keys. */
  async batchGet(table: Table, input: unknown): Promise<BatchGetAnswer> {
    const body = batchGetBody(table.tableId, readFields(ACTION_FIELDS['batch-get'], input))
    const answer = await this.#lanes.run(
      table.siteId,
      async () => (await this.#several(table, 'BatchGetItem', body)) as unknown as Batch,
      ({ UnprocessedKeys }) => Object.keys(UnprocessedKeys).length > 0,
    )
    return {
      items: answer.Responses[table.tableId] ?? [],
      unprocessedKeys: answer.UnprocessedKeys[table.tableId]?.Keys ?? [],
    }
  }

  /** `{ puts?, deletes? }` or `{ requests: [{ putRequest: { item } } | { deleteRequest: { key } }] }`: at most 25. */
  async batchWrite(table: Table, input: unknown): Promise<BatchWriteAnswer> {
    const body = batchWriteBody(table.tableId, readFields(ACTION_FIELDS['batch-write'], input))
    await this.#several(table, 'BatchWriteItem', body)
    return { ok: true, unprocessedItems: [] }
  }

  /** `{ actions: [{ put | update | delete | conditionCheck }], clientRequestToken? }`: at most 100, all or nothing. */
  async transactWrite(table: Table, input: unknown): Promise<TransactAnswer> {
    const fields = readFields(ACTION_FIELDS['transact-write'], input)
    await this.#several(table, 'TransactWriteItems', transactWriteBody(table.tableId, fields))
    return { ok: true }
  }

  #one(table: Table, action: ItemAction, fields: RequestFields): Promise<ActionAnswer> {
    return this.#engine.perform(table, action, pascalFields(fields), PLAIN)
  }

  #several(
    table: Table,
    action: 'BatchGetItem' | 'BatchWriteItem' | 'TransactWriteItems',
    body: ActionBody,
  ): Promise<ActionAnswer> {
    const named = (name: string) => (name === table.tableId ? table : undefined)
    return this.#batches.perform(named, action, body, PLAIN)
  }
}

/** Many items, or so long ones that the page ended before its limit. */
const isLarge = ({ ScannedCount, LastEvaluatedKey }: Page, limit: unknown): boolean =>
  ScannedCount > LARGE_PAGE || (LastEvaluatedKey !== undefined && ScannedCount !== limit)
