import { invalid } from '#base/app-error.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import { isJsonObject, type JsonObject } from '#base/json-object.ts'
import type { PageTokens } from '#base/page.ts'

import type { FoundPage } from './actions/page.ts'
import { ACTION_FIELDS } from './api/action-fields.ts'
import type { TableAction, TableAnswer } from './api/answers.ts'
import { batchWrites, itemObjects, transactActions } from './api/batch-requests.ts'
import { ReadLimiter } from './api/read-limiter.ts'
import { camelCase, readRequestFields } from './api/request-fields.ts'
import type { TableEngine } from './engine.ts'
import { type KeySchema, keyAttributes } from './items/key-schema.ts'
import type { PlainItem } from './items/plain-json.ts'
import type { Table } from './table.ts'

const { required, optional } = ACTION_FIELDS.get
const GET_FIELDS: ReadonlySet<string> = new Set(Object.keys({ ...required, ...optional }))
/** Items; reading so many holds the process for some milliseconds. */
const LARGE_PAGE = 500

/** The fields of a query or scan that say where its page starts and ends. */
interface PageStart {
  readonly nextToken?: string
  readonly exclusiveStartKey?: JsonObject
  readonly limit?: number
}

/** A site's tables as its people and its code use them: plain JSON in, plain JSON out. */
export class Tables {
  readonly #engine: TableEngine
  readonly #pageTokens: PageTokens
  readonly #reads = new ReadLimiter()

  constructor(deps: { engine: TableEngine; pageTokens: PageTokens }) {
    this.#engine = deps.engine
    this.#pageTokens = deps.pageTokens
  }

  /**
   * Performs an action; the shapes of its answers are in `api/answers.ts`. `input` comes from JSON whose depth the
   * caller has bounded. Throws `ValidationError`, `InvalidNextToken`, `ConditionalCheckFailed`, `TransactionCanceled`
   * and `IdempotencyKeyReused`.
   */
  async perform(table: Table, action: TableAction, input: unknown): Promise<TableAnswer> {
    switch (action) {
      case 'get':
        return this.#get(table, input)
      case 'query': {
        const fields = readRequestFields(ACTION_FIELDS.query, input)
        return this.#page(table, action, fields, (from) => this.#engine.query(table, from))
      }
      case 'scan': {
        const fields = readRequestFields(ACTION_FIELDS.scan, input)
        return this.#page(table, action, fields, (from) => this.#engine.scan(table, from))
      }
      case 'put':
        return written(this.#engine.put(table, readRequestFields(ACTION_FIELDS.put, input)))
      case 'update':
        return written(this.#engine.update(table, readRequestFields(ACTION_FIELDS.update, input)))
      case 'delete':
        return written(this.#engine.delete(table, readRequestFields(ACTION_FIELDS.delete, input)))
      case 'batch-get':
        return this.#batchGet(table, input)
      case 'batch-write':
        return this.#batchWrite(table, input)
      case 'transact-write':
        return this.#transactWrite(table, input)
      default:
        return action satisfies never
    }
  }

  /** `{ key, projectionExpression?, expressionAttributeNames?, consistentRead? }`, or the bare key. */
  async #get(table: Table, input: unknown): Promise<TableAnswer<'get'>> {
    const fields = bareKey(table.schema, input) ?? readRequestFields(ACTION_FIELDS.get, input)
    return { item: (await this.#engine.get(table, fields)) ?? null }
  }

  /** `{ keys, projectionExpression?, expressionAttributeNames?, consistentRead? }`: at most 100 keys. */
  async #batchGet(table: Table, input: unknown): Promise<TableAnswer<'batch-get'>> {
    const { keys, ...rest } = readRequestFields(ACTION_FIELDS['batch-get'], input)
    const request = { table, keys: itemObjects('keys', keys), ...rest }
    return this.#reads.run(
      table.siteId,
      async () => {
        const [found] = await this.#engine.batchGet([request])
        return { items: found?.items ?? [], unprocessedKeys: found?.unprocessedKeys ?? [] }
      },
      ({ unprocessedKeys }) => unprocessedKeys.length > 0,
    )
  }

  /** `{ puts?, deletes? }` or `{ requests: [{ putRequest: { item } } | { deleteRequest: { key } }] }`: at most 25. */
  async #batchWrite(table: Table, input: unknown): Promise<TableAnswer<'batch-write'>> {
    const fields = readRequestFields(ACTION_FIELDS['batch-write'], input)
    await this.#engine.batchWrite(batchWrites(table, fields))
    return { ok: true, unprocessedItems: [] }
  }

  /** `{ actions: [{ put | update | delete | conditionCheck }], clientRequestToken? }`: at most 100, all or nothing. */
  async #transactWrite(table: Table, input: unknown): Promise<TableAnswer<'transact-write'>> {
    const { actions, clientRequestToken } = readRequestFields(
      ACTION_FIELDS['transact-write'],
      input,
    )
    await this.#engine.transactWrite(transactActions(table, actions), clientRequestToken)
    return { ok: true }
  }

  /** Starts where `nextToken` says. A token is bound to site, table, action, and every field but `limit`. */
  async #page<Fields extends PageStart>(
    { siteId, tableId }: Table,
    action: 'query' | 'scan',
    fields: Fields,
    read: (from: Fields) => Promise<FoundPage>,
  ): Promise<TableAnswer<'query'>> {
    const { nextToken, exclusiveStartKey, limit, ...filters } = fields
    if (nextToken !== undefined && exclusiveStartKey !== undefined) {
      throw invalid('nextToken', 'says where to start, and so does "exclusiveStartKey": send one')
    }
    const scope = [siteId, 'table', tableId, action, canonicalJson(filters)]
    // Only what `seal` wrote opens.
    const startKey =
      nextToken === undefined
        ? exclusiveStartKey
        : (JSON.parse(this.#pageTokens.open(scope, nextToken)) as JsonObject)
    const page = await this.#reads.run(
      siteId,
      () => read({ ...fields, ...(startKey && { exclusiveStartKey: startKey }) }),
      (found) => isLarge(found, limit),
    )
    const place = page.lastEvaluatedKey && JSON.stringify(page.lastEvaluatedKey)
    return { ...page, nextToken: this.#pageTokens.seal(scope, place) }
  }
}

async function written(shown: Promise<PlainItem | undefined>): Promise<TableAnswer<'put'>> {
  const attributes = await shown
  return { ok: true, ...(attributes && { attributes }) }
}

/** Many items, or so long ones that the page ended before its limit. */
const isLarge = ({ scannedCount, lastEvaluatedKey }: FoundPage, limit: number | undefined) =>
  scannedCount > LARGE_PAGE || (lastEvaluatedKey !== undefined && scannedCount !== limit)

/**
 * Reads a body that is the key itself: `{ "id": "a1" }`. It is taken for one only when it has exactly the table's key
 * attributes and none of them is called like a field of the request, so that no other reading is possible.
 */
function bareKey(schema: KeySchema, input: unknown): { readonly key: JsonObject } | undefined {
  if (!isJsonObject(input)) return undefined
  const keys = keyAttributes(schema)
  const isKey =
    Object.keys(input).length === keys.length &&
    keys.every(({ name }) => Object.hasOwn(input, name) && !GET_FIELDS.has(camelCase(name)))
  return isKey ? { key: input } : undefined
}
