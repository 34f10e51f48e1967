import type { ActionBody } from '#runtime/tables/engine.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import { checkEmptyKeys, checkKey } from '#runtime/tables/items/key-schema.ts'
import { itemSize } from '#runtime/tables/items/size.ts'
import type { ItemPlace } from '#runtime/tables/store/batch-items.ts'

import { cancelForFirst, faultOf } from './cancellation.ts'
import { transactedExpressionsOf } from './expression-texts.ts'
import type { Plan } from './plan.ts'
import { checkDistinct, fieldsOf, type RequestReading, tableNamed } from './requests.ts'
import { checkTransactionBytes, ONE_OPERATION, transactItems } from './transaction-bounds.ts'

interface WantedItem {
  readonly place: ItemPlace
  readonly projection: Projection | undefined
}

/**
 * TransactGetItems: all items as they were at one moment, in the order of the request; `{}` where there is none, or nothing that
 * was asked for.
 */
export function transactGet(body: ActionBody, reading: RequestReading): Plan {
  const read = transactItems(body).map((input) => readGet(fieldsOf(input)['Get'], reading))
  const wanted = read.map((placed) => placed())
  for (const { place, projection } of wanted) {
    checkEmptyKeys(place.key, place.table.schema)
    checkNestedPaths(projection?.paths ?? [], place.table.schema)
  }
  cancelForFirst(wanted.map(({ place }) => faultOf(() => checkKey(place.key, place.table.schema))))
  const places = wanted.map(({ place }) => place)
  checkDistinct(places, ONE_OPERATION)
  return {
    places,
    async perform(tx, { items }) {
      const found = await items.read(tx, places)
      checkTransactionBytes(found.reduce((sum, item) => sum + (item ? itemSize(item) : 0), 0))
      const responses = wanted.map(({ projection }, index) => {
        const item = found[index]
        if (item === undefined) return {}
        if (projection === undefined) return { Item: reading.codec.writeItem(item) }
        const shown = project(projection, item)
        return Object.keys(shown).length === 0 ? {} : { Item: reading.codec.writeItem(shown) }
      })
      return { Responses: responses }
    },
  }
}

/** An item wanted of a table that has not been looked for yet. */
function readGet(input: unknown, { tables, codec, expressions }: RequestReading): () => WantedItem {
  if (input === undefined) throw invalidRequest('TransactItems must contain Get requests only')
  const request = fieldsOf(input)
  const key = codec.readItem(request['Key'])
  const { projection } = expressions.bind(transactedExpressionsOf(request), {
    parameters: ['ProjectionExpression'],
    readValue: (value) => codec.readValue(value),
  })
  return () => ({ place: { table: tableNamed(tables, request['TableName']), key }, projection })
}
