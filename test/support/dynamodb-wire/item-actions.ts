import { AppError } from '#base/app-error.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { asksCapacity, capacityField, readUnits } from './capacity.ts'
import { checkRequest, type WireItemAction } from './check-request.ts'
import { WIRE } from './codec.ts'
import type { WireEngine } from './engine.ts'
import type { ItemRequest } from './item-request.ts'
import { ITEM_SHAPES } from './item-shapes.ts'
import { performPage } from './page-actions.ts'
import { translated } from './translate-legacy.ts'
import { validationFault } from './wire-error.ts'
import type { WireTable } from './wire-table.ts'
import { writtenCapacity } from './written-capacity.ts'

/** No test fills more than this with an endpoint for tests. */
const SMALLEST_RANGE_GB = [0, 1]

export type Body = Readonly<Record<string, unknown>>

export interface ItemPlaces {
  readonly engine: WireEngine
  /** Fails with ResourceNotFoundException. */
  readonly tableOf: (name: string) => { readonly wire: WireTable; readonly table: Table }
}

/** One of the six actions on items, from a request whose shape is right to DynamoDB's answer. */
export async function performItemAction(
  places: ItemPlaces,
  action: WireItemAction,
  request: ItemRequest,
): Promise<object> {
  checkRequest(action, request)
  const { wire, table } = places.tableOf(request.TableName)
  const body = translated(action, request)
  if (action === 'Query' || action === 'Scan') {
    return performPage({ engine: places.engine, table, wire }, action, { request, body })
  }
  const single = { engine: places.engine, wire, table, action, request, body }
  return action === 'GetItem' ? get(single) : write(single)
}

export const isItemAction = (name: string): name is WireItemAction =>
  ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan'].includes(name) &&
  name in ITEM_SHAPES

interface Single {
  readonly engine: WireEngine
  readonly wire: WireTable
  readonly table: Table
  readonly action: WireItemAction
  readonly request: ItemRequest
  readonly body: Body
}

async function get({ engine, table, request, body }: Single): Promise<object> {
  const answer = await engine.perform(table, 'GetItem', body, WIRE)
  if (!asksCapacity(request)) return answer
  const whole = await storedItem(engine, table, request.Key)
  const consumed = { table: readUnits(whole, request.ConsistentRead === true), indexes: [] }
  return { ...answer, ...capacityField(request, consumed) }
}

async function write(single: Single): Promise<object> {
  const { engine, wire, table, request } = single
  const key = request.Key ?? keyOf(request.Item ?? {}, table)
  if (!asksCapacity(request)) {
    return { ...(await writeAlone(single)), ...collectionField(single, key) }
  }
  const before = await storedItem(engine, table, key).catch(() => undefined)
  const answer = await writeAlone(single)
  const after = await storedItem(engine, table, key)
  return {
    ...answer,
    ...capacityField(request, writtenCapacity(wire, before, after)),
    ...collectionField(single, key),
  }
}

/** Only where there are local indexes do items with one partition key count together. */
function collectionField({ wire, table, request }: Single, key: Body): Body {
  const isAsked = request.ReturnItemCollectionMetrics === 'SIZE'
  if (!isAsked || wire.indexes.every(({ scope }) => scope === 'global')) return {}
  const { name } = table.schema.partitionKey
  return {
    ItemCollectionMetrics: {
      ItemCollectionKey: { [name]: key[name] },
      SizeEstimateRangeGB: SMALLEST_RANGE_GB,
    },
  }
}

/** An update of old has a word of its own for a type that does not suit. */
async function writeAlone({ engine, table, action, request, body }: Single): Promise<object> {
  try {
    return await engine.perform(table, action, body, WIRE)
  } catch (fault) {
    const isLegacy = request.AttributeUpdates !== undefined && fault instanceof AppError
    if (isLegacy && fault.message.includes('incorrect data type')) {
      throw validationFault('Type mismatch for attribute to update')
    }
    throw fault
  }
}

export async function storedItem(
  engine: WireEngine,
  table: Table,
  key: Body | undefined,
): Promise<Item | undefined> {
  const answer = await engine.perform(table, 'GetItem', { Key: key, ConsistentRead: true }, WIRE)
  return answer['Item'] as Item | undefined
}

export function keyOf(item: Body, { schema }: Table): Body {
  const names = [schema.partitionKey.name, ...(schema.sortKey ? [schema.sortKey.name] : [])]
  return Object.fromEntries(names.map((name) => [name, item[name]]))
}
