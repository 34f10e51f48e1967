import type { ActionBody } from '#runtime/tables/engine.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import { attributeOf, type Item, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  checkItemKeys,
  checkKey,
  keyAttributes,
  type TableSchema,
} from '#runtime/tables/items/key-schema.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'

import { chargeChanges } from './charge-changes.ts'
import { lockPlaces } from './locks.ts'
import type { Plan, PlacedItem } from './plan.ts'
import {
  checkDistinct,
  fieldsOf,
  keyOf,
  listOf,
  type RequestReading,
  tableNamed,
} from './requests.ts'

const MAX_WRITES = 25

/** BatchWriteItem: writes all of it or nothing, so that nothing is ever left unprocessed. */
export function batchWrite(body: ActionBody, reading: RequestReading): Plan {
  const requests = Object.entries(fieldsOf(body['RequestItems']))
  const writes = requests.flatMap(([name, list]) => {
    const changes = listOf(list).map((each) => readChange(each, reading))
    if (changes.length === 0 || changes.length > MAX_WRITES) throw outOfBounds(name, changes.length)
    const table = tableNamed(reading.tables, name)
    return changes.map((change) => ({ table, ...change }))
  })
  if (writes.length > MAX_WRITES) {
    throw invalidRequest('Too many items requested for the BatchWriteItem call')
  }
  const changes = writes.map(({ table, key, item }): PlacedItem => {
    if (item === undefined) checkKey(key, table.schema)
    else checkPut(item, table.schema)
    return { place: { table, key: keyOf(key, table.schema) }, item }
  })
  const places = changes.map(({ place }) => place)
  checkDistinct(places, 'Provided list of item keys contains duplicates')
  return {
    places,
    async perform(tx, { items, charge }) {
      await lockPlaces(tx, places)
      const stored = charge.exact ? await items.lock(tx, places) : []
      chargeChanges(
        charge,
        changes.map((change, at) => ({ ...change, before: stored[at] })),
      )
      await items.write(tx, changes)
      return { UnprocessedItems: {} }
    },
  }
}

function readChange(input: unknown, { codec }: RequestReading) {
  const { PutRequest, DeleteRequest } = fieldsOf(input)
  if ((PutRequest === undefined) === (DeleteRequest === undefined)) {
    throw invalidRequest(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  if (PutRequest === undefined) {
    return { key: codec.readItem(fieldsOf(DeleteRequest)['Key']), item: undefined }
  }
  const item = codec.readItem(fieldsOf(PutRequest)['Item'])
  checkItemSize(item)
  return { key: item, item }
}

/** Of a key in a batch DynamoDB says less than of one put alone: not which attribute is wrong. */
function checkPut(item: Item, schema: TableSchema): void {
  for (const { name, type } of keyAttributes(schema)) {
    const value = attributeOf(item, name)
    if (value !== undefined && typeOf(value) === type) continue
    throw invalidRequest('The provided key element does not match the schema')
  }
  checkItemKeys(item, schema)
}

const outOfBounds = (name: string, length: number): Error =>
  length > MAX_WRITES
    ? invalidRequest('Too many items requested for the BatchWriteItem call')
    : invalidRequest(
        `1 validation error detected: Value '[]' at 'requestItems.${name}.member' failed to satisfy constraint: Member must have length greater than or equal to 1`,
      )
