import type { Item } from '#runtime/tables/items/attribute-value.ts'

import type { WireBatches } from './batches.ts'
import { capacityOf, capacityOfReads, type Consumed, readUnits, summed } from './capacity.ts'
import { checkProjected } from './check-request.ts'
import { WIRE } from './codec.ts'
import { type ItemPlaces, keyOf, storedItem } from './item-actions.ts'
import type { ItemRequest } from './item-request.ts'
import { translated } from './translate-legacy.ts'
import { validationFault } from './wire-error.ts'
import { readWireItem } from './wire-value.ts'
import { writtenCapacity } from './written-capacity.ts'

const MAX_KEYS = 100
const TRANSACTION_FACTOR = 2
const ACTIONS = [
  'BatchGetItem',
  'BatchWriteItem',
  'TransactGetItems',
  'TransactWriteItems',
] as const
export type WireBatchAction = (typeof ACTIONS)[number]

type Fields = Readonly<Record<string, unknown>>

export interface BatchPlaces extends ItemPlaces {
  readonly batches: WireBatches
}

interface KeysOfTable extends ItemRequest {
  readonly Keys: readonly Fields[]
}

interface WriteRequest {
  readonly PutRequest?: { readonly Item: Fields }
  readonly DeleteRequest?: { readonly Key: Fields }
}

interface Transacted extends ItemRequest {
  readonly TableName: string
}

interface BatchRequest {
  readonly RequestItems?: Readonly<Record<string, unknown>>
  readonly TransactItems?: readonly Readonly<Record<string, Transacted>>[]
  readonly ReturnConsumedCapacity?: string
}

export const isBatchAction = (name: string): name is WireBatchAction =>
  ACTIONS.some((action) => action === name)

/** An action on several items, from a request whose shape is right to DynamoDB's answer. */
export async function performBatchAction(
  places: BatchPlaces,
  action: WireBatchAction,
  request: BatchRequest,
): Promise<object> {
  const { ReturnConsumedCapacity: asked = 'NONE', ...body } = request
  const read = READERS[action](body, places)
  const meter = asked === 'NONE' ? undefined : new Meter(places, asked)
  await meter?.measure(read.items)
  const answer = await places.batches.perform(
    (name) => places.tableOf(name).table,
    action,
    read.body,
    WIRE,
  )
  await meter?.measure(read.items)
  return meter === undefined ? answer : { ...answer, ...meter.field(action) }
}

/** An item that a batch is about. */
interface MeteredItem {
  readonly tableName: string
  /** Of what is written whole, it is in the item. */
  readonly key: Fields | undefined
  readonly item?: Fields | undefined
  readonly isConsistent: boolean
}

interface ReadBatch {
  readonly body: Fields
  readonly items: readonly MeteredItem[]
}

const READERS: Readonly<
  Record<WireBatchAction, (request: BatchRequest, places: BatchPlaces) => ReadBatch>
> = {
  BatchGetItem(request, places) {
    const requested = Object.entries(request.RequestItems ?? {}) as [string, KeysOfTable][]
    checkKeys(requested)
    const tables = requested.map(([name, keys]) => {
      places.tableOf(name)
      const { Keys: _keys, ...fields } = keys
      return [name, { ...translated('GetItem', fields), Keys: keys.Keys }] as const
    })
    const items = requested.flatMap(([tableName, { Keys: keys, ConsistentRead }]) =>
      keys.map((key) => ({ tableName, key, isConsistent: ConsistentRead === true })),
    )
    return { body: { ...request, RequestItems: Object.fromEntries(tables) }, items }
  },
  BatchWriteItem(request, places) {
    const requested = Object.entries(request.RequestItems ?? {}) as [string, WriteRequest[]][]
    for (const [, writes] of requested) checkWrites(writes)
    const items = requested.flatMap(([tableName, writes]) => {
      places.tableOf(tableName)
      return writes.map(({ PutRequest: put, DeleteRequest: removed }) => ({
        tableName,
        key: removed?.Key,
        item: put?.Item,
        isConsistent: true,
      }))
    })
    return { body: { ...request }, items }
  },
  TransactGetItems: transacted,
  TransactWriteItems: transacted,
}

function transacted(request: BatchRequest): ReadBatch {
  const items = (request.TransactItems ?? []).flatMap((element) =>
    Object.values(element).map(({ TableName: tableName, Key: key, Item: item }) => ({
      tableName,
      key,
      item,
      isConsistent: true,
    })),
  )
  return { body: { ...request }, items }
}

function checkKeys(requested: readonly (readonly [string, KeysOfTable])[]): void {
  let count = 0
  checkSameManner(requested.map(([, request]) => request))
  for (const [, request] of requested) {
    checkProjected(request)
    const seen = new Set<string>()
    for (const key of request.Keys) {
      const text = JSON.stringify(
        Object.entries(readWireItem(key)).toSorted(([one], [other]) => (one < other ? -1 : 1)),
      )
      if (seen.has(text)) throw validationFault('Provided list of item keys contains duplicates')
      seen.add(text)
      count += 1
      if (count > MAX_KEYS) {
        throw validationFault('Too many items requested for the BatchGetItem call')
      }
    }
  }
}

/** What is read of one table in the manner of old is not read of another with an expression. */
function checkSameManner(requests: readonly KeysOfTable[]): void {
  const asksOfOld = requests.some((request) => request.AttributesToGet !== undefined)
  if (!asksOfOld || requests.every((request) => request.ProjectionExpression === undefined)) return
  throw validationFault(
    'Can not use both expression and non-expression parameters in the same request: ' +
      'Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}',
  )
}

function checkWrites(writes: readonly WriteRequest[]): void {
  if (writes.some((write) => Object.keys(write).length === 0)) {
    throw validationFault(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  for (const { PutRequest: put, DeleteRequest: removed } of writes) {
    if (put) readWireItem(put.Item)
    else if (removed) readWireItem(removed.Key)
  }
}

/** What a batch costs, from its items before and after. */
class Meter {
  readonly #places: BatchPlaces
  readonly #asked: string
  readonly #found = new Map<MeteredItem, (Item | undefined)[]>()

  constructor(places: BatchPlaces, asked: string) {
    this.#places = places
    this.#asked = asked
  }

  async measure(items: readonly MeteredItem[]): Promise<void> {
    for (const item of items) {
      const stored = await this.#stored(item).catch(() => undefined)
      this.#found.set(item, [...(this.#found.get(item) ?? []), stored])
    }
  }

  async #stored({ tableName, key, item = {} }: MeteredItem): Promise<Item | undefined> {
    const { table } = this.#places.tableOf(tableName)
    return storedItem(this.#places.engine, table, key ?? keyOf(item, table))
  }

  field(action: WireBatchAction): Fields {
    const isRead = action === 'BatchGetItem' || action === 'TransactGetItems'
    const times = action.startsWith('Transact') ? TRANSACTION_FACTOR : 1
    const consumed = new Map<string, Consumed[]>()
    for (const [{ tableName, isConsistent }, [before, after]] of this.#found) {
      const cost = isRead
        ? { table: readUnits(after, isConsistent), indexes: [] }
        : writtenCapacity(this.#places.tableOf(tableName).wire, before, after)
      const known = consumed.get(tableName) ?? []
      consumed.set(tableName, [...known, ...Array.from({ length: times }, () => cost)])
    }
    const write = action === 'TransactGetItems' ? capacityOfReads : capacityOf
    const ConsumedCapacity = [...consumed].map(([name, all]) =>
      write(name, this.#asked, summed(all)),
    )
    return { ConsumedCapacity }
  }
}
