import { AppError } from '#base/app-error.ts'
import { applyUpdate } from '#runtime/tables/expressions/apply-update.ts'
import { NO_UPDATE } from '#runtime/tables/expressions/bind-update.ts'
import { type BoundExpressions, Expressions } from '#runtime/tables/expressions/expressions.ts'
import { inSortRange, keyRangeOf } from '#runtime/tables/expressions/key-condition.ts'
import {
  checkFilterPaths,
  checkNestedPaths,
  checkUpdatedIndexKeys,
  checkUpdateKeys,
} from '#runtime/tables/expressions/key-rules.ts'
import { itemMatches } from '#runtime/tables/expressions/matches.ts'
import { project, projectionOf } from '#runtime/tables/expressions/project.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'
import { areEqual } from '#runtime/tables/items/equality.ts'
import {
  checkItemKeys,
  checkItemKey,
  keyAttributes,
  type TableSchema,
} from '#runtime/tables/items/key-schema.ts'
import { compareValues } from '#runtime/tables/items/order.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'
import { bindWire, type ExpressionParameter } from '#test/dynamodb-wire/expression-texts.ts'
import { readWireItem } from '#test/dynamodb-wire/wire-value.ts'

import type { Action, Answer, TableRequest } from './answer.ts'
import { schemaOf, type TableName, TABLES } from './tables.ts'

type Body = TableRequest['body']

const PARAMETERS: Readonly<Record<Action, readonly ExpressionParameter[]>> = {
  GetItem: ['ProjectionExpression'],
  PutItem: ['ConditionExpression'],
  UpdateItem: ['UpdateExpression', 'ConditionExpression'],
  DeleteItem: ['ConditionExpression'],
  Query: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
  Scan: ['ProjectionExpression', 'FilterExpression'],
}
class ConditionFailed extends Error {}

/** Tables in memory, made of nothing but the pure functions under test. */
export class PureTables {
  readonly #items = new Map<TableName, Map<string, Item>>()
  readonly #expressions = new Expressions()

  call(action: Action, body: Body): Answer {
    try {
      return { ok: true, body: this.#perform(action, body) }
    } catch (error) {
      if (error instanceof ConditionFailed) {
        const message = 'The conditional request failed'
        return { ok: false, type: 'ConditionalCheckFailedException', message }
      }
      if (!(error instanceof AppError)) throw error
      return { ok: false, type: 'ValidationException', message: error.message }
    }
  }

  bind(action: Action, body: Body): BoundExpressions {
    return bindWire(this.#expressions, body, PARAMETERS[action])
  }

  /** The stored item with the key of a request, if the key can be read. */
  find(body: Body): Item | undefined {
    const key = body['Key'] ?? body['Item']
    if (key === undefined) return undefined
    return this.#table(body).get(keyText(readWireItem(key), tableOf(body)))
  }

  all(body: Body): readonly Item[] {
    return [...this.#table(body).values()]
  }

  #perform(action: Action, body: Body): Record<string, unknown> {
    switch (action) {
      case 'GetItem':
        return this.#get(body)
      case 'PutItem':
        return this.#put(body)
      case 'UpdateItem':
        return this.#update(body)
      case 'DeleteItem':
        return this.#delete(body)
      case 'Query':
        return this.#query(body)
      case 'Scan':
        return this.#scan(body)
      default:
        return action satisfies never
    }
  }

  #get(body: Body): Record<string, unknown> {
    const key = readWireItem(body['Key'])
    const { projection } = this.bind('GetItem', body)
    checkItemKey(key, schemaOf(tableOf(body)))
    checkNestedPaths(projection?.paths ?? [], schemaOf(tableOf(body)))
    const item = this.#table(body).get(keyText(key, tableOf(body)))
    if (item === undefined) return {}
    return { Item: projection === undefined ? item : project(projection, item) }
  }

  #put(body: Body): Record<string, unknown> {
    const item = readWireItem(body['Item'])
    checkItemSize(item)
    const bound = this.bind('PutItem', body)
    checkItemKeys(item, schemaOf(tableOf(body)))
    const stored = this.#checked(body, item, bound)
    this.#table(body).set(keyText(item, tableOf(body)), item)
    return body['ReturnValues'] === 'ALL_OLD' && stored !== undefined ? { Attributes: stored } : {}
  }

  #update(body: Body): Record<string, unknown> {
    const key = readWireItem(body['Key'])
    const schema = schemaOf(tableOf(body))
    const bound = this.bind('UpdateItem', body)
    checkItemKey(key, schema)
    const update = bound.update ?? NO_UPDATE
    checkUpdateKeys(update, schema)
    const stored = this.#checked(body, key, bound)
    const after = applyUpdate(update, { stored, key, schema })
    if (after === undefined) return {}
    checkUpdatedIndexKeys(update, after, schema)
    checkItemSize(after, 'update')
    this.#table(body).set(keyText(key, tableOf(body)), after)
    const targets = projectionOf(update.actions.map(({ path }) => path))
    switch (body['ReturnValues']) {
      case 'ALL_NEW':
        return { Attributes: after }
      case 'UPDATED_NEW':
        return attributes(project(targets, after))
      case 'UPDATED_OLD':
        return stored === undefined ? {} : attributes(project(targets, stored))
      default:
        return {}
    }
  }

  #delete(body: Body): Record<string, unknown> {
    const key = readWireItem(body['Key'])
    const bound = this.bind('DeleteItem', body)
    checkItemKey(key, schemaOf(tableOf(body)))
    const stored = this.#checked(body, key, bound)
    this.#table(body).delete(keyText(key, tableOf(body)))
    return body['ReturnValues'] === 'ALL_OLD' && stored !== undefined ? { Attributes: stored } : {}
  }

  #query(body: Body): Record<string, unknown> {
    const schema = schemaOf(tableOf(body))
    const bound = this.bind('Query', body)
    if (bound.keyCondition === undefined) throw new Error('A query without a key condition')
    const { partition, sort } = keyRangeOf(bound.keyCondition, schema)
    const filterPaths = bound.filter ? pathsIn(bound.filter) : []
    checkNestedPaths(bound.projection?.paths ?? [], schema)
    checkFilterPaths(filterPaths, schema)
    checkNestedPaths(filterPaths, schema)
    const found = this.all(body).filter((item) => {
      const [hash, range] = keyAttributes(schema).map((key) => attributeOf(item, key.name))
      const within = sort === undefined || (range !== undefined && inSortRange(range, sort))
      return hash !== undefined && areEqual(hash, partition) && within
    })
    const sorted = inOrder(found, schema)
    return answerOf(body['ScanIndexForward'] === false ? sorted.toReversed() : sorted, bound)
  }

  #scan(body: Body): Record<string, unknown> {
    const schema = schemaOf(tableOf(body))
    const bound = this.bind('Scan', body)
    checkNestedPaths(bound.projection?.paths ?? [], schema)
    checkNestedPaths(bound.filter ? pathsIn(bound.filter) : [], schema)
    return answerOf([...this.#table(body).values()], bound)
  }

  #checked(body: Body, key: Item, { condition }: BoundExpressions): Item | undefined {
    const stored = this.#table(body).get(keyText(key, tableOf(body)))
    if (condition !== undefined && !itemMatches(condition, stored ?? {})) {
      throw new ConditionFailed()
    }
    return stored
  }

  #table(body: Body): Map<string, Item> {
    const name = tableOf(body)
    const known = this.#items.get(name)
    if (known !== undefined) return known
    const table = new Map<string, Item>()
    this.#items.set(name, table)
    return table
  }
}

function answerOf(
  items: readonly Item[],
  { filter, projection }: BoundExpressions,
): Record<string, unknown> {
  const kept = items.filter((item) => filter === undefined || itemMatches(filter, item))
  return {
    Items: projection === undefined ? kept : kept.map((item) => project(projection, item)),
    Count: kept.length,
    ScannedCount: items.length,
  }
}

function inOrder(items: readonly Item[], { sortKey }: TableSchema): readonly Item[] {
  if (sortKey === undefined) return items
  return items.toSorted((one, other) => {
    const [left, right] = [attributeOf(one, sortKey.name), attributeOf(other, sortKey.name)]
    return left === undefined || right === undefined ? 0 : (compareValues(left, right) ?? 0)
  })
}

const attributes = (part: Item): Record<string, unknown> =>
  Object.keys(part).length === 0 ? {} : { Attributes: part }

function tableOf(body: Body): TableName {
  const name = String(body['TableName'])
  const found = Object.keys(TABLES).find((each): each is TableName => each === name)
  if (found === undefined) throw new Error(`No table ${name}`)
  return found
}

const keyText = (item: Item, table: TableName): string =>
  JSON.stringify(keyAttributes(schemaOf(table)).map((key) => attributeOf(item, key.name)))
