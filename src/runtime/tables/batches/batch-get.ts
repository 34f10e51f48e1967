import type { ItemCodec } from '#runtime/tables/codec.ts'
import type { ActionAnswer, ActionBody } from '#runtime/tables/engine.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkKey } from '#runtime/tables/items/key-schema.ts'
import { itemSize, MAX_ITEM_BYTES } from '#runtime/tables/items/size.ts'
import type { ItemPlace } from '#runtime/tables/store/batch-items.ts'

import { expressionsOf } from './expression-texts.ts'
import type { Plan } from './plan.ts'
import { checkDistinct, fieldsOf, listOf, type RequestReading, tableNamed } from './requests.ts'

const MAX_KEYS = 100
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** Read at once, so that what is read and what may be answered are of one size. */
const KEYS_AT_ONCE = Math.floor(MAX_ANSWER_BYTES / MAX_ITEM_BYTES)

interface WantedItem {
  readonly name: string
  readonly place: ItemPlace
  /** As it was sent, for `UnprocessedKeys`. */
  readonly sent: unknown
  readonly rest: Readonly<Record<string, unknown>>
  readonly projection: Projection | undefined
}

/** BatchGetItem: reads until the answer holds 16 MiB; the keys beyond that come back as unprocessed. */
export function batchGet(body: ActionBody, reading: RequestReading): Plan {
  const requests = Object.entries(fieldsOf(body['RequestItems']))
  if (requests.length === 0) throw invalidRequest(EMPTY)
  const wanted = requests.flatMap(([name, request]) => readKeys(name, request, reading))
  if (wanted.length > MAX_KEYS) {
    throw invalidRequest('Too many items requested for the BatchGetItem call')
  }
  for (const { place, projection } of wanted) {
    checkKey(place.key, place.table.schema)
    checkNestedPaths(projection?.paths ?? [], place.table.schema)
  }
  const places = wanted.map(({ place }) => place)
  checkDistinct(places, 'Provided list of item keys contains duplicates')
  return {
    places,
    perform: (tx, { items }) => getAll(wanted, reading.codec, (places) => items.read(tx, places)),
  }
}

const EMPTY =
  "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"

function readKeys(name: string, request: unknown, reading: RequestReading): WantedItem[] {
  const { Keys, ...rest } = fieldsOf(request)
  const keys = listOf(Keys)
  if (keys.length === 0 || keys.length > MAX_KEYS) {
    const bound =
      keys.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${MAX_KEYS}`
    throw invalidRequest(
      `1 validation error detected: Value at 'requestItems.${name}.member.keys' failed to satisfy constraint: Member must have length ${bound}`,
    )
  }
  const { projection } = reading.expressions.bind(expressionsOf(rest), {
    parameters: ['ProjectionExpression'],
    readValue: (input) => reading.codec.readValue(input),
  })
  const read = keys.map((sent) => ({ sent, key: reading.codec.readItem(sent) }))
  const table = tableNamed(reading.tables, name)
  return read.map(({ sent, key }) => ({ name, place: { table, key }, sent, rest, projection }))
}

async function getAll(
  wanted: readonly WantedItem[],
  codec: ItemCodec,
  read: (places: readonly ItemPlace[]) => Promise<readonly (Item | undefined)[]>,
): Promise<ActionAnswer> {
  const answered: Record<string, unknown[]> = Object.fromEntries(
    wanted.map(({ name }) => [name, []]),
  )
  let bytes = 0
  for (let at = 0; at < wanted.length; at += KEYS_AT_ONCE) {
    const some = wanted.slice(at, at + KEYS_AT_ONCE)
    const found = await read(some.map(({ place }) => place))
    for (const [index, { name, projection }] of some.entries()) {
      const item = found[index]
      if (item === undefined) continue
      bytes += itemSize(item)
      if (bytes > MAX_ANSWER_BYTES) {
        return { Responses: answered, UnprocessedKeys: unprocessed(wanted.slice(at + index)) }
      }
      answered[name]?.push(codec.writeItem(shown(item, projection)))
    }
  }
  return { Responses: answered, UnprocessedKeys: {} }
}

const shown = (item: Item, projection: Projection | undefined): Item =>
  projection === undefined ? item : project(projection, item)

/** A request for what is left, in the form of `RequestItems`. */
function unprocessed(left: readonly WantedItem[]): Readonly<Record<string, unknown>> {
  const requests: Record<string, { Keys: unknown[] }> = {}
  for (const { name, rest, sent } of left) {
    const request = (requests[name] ??= { Keys: [], ...rest })
    request.Keys.push(sent)
  }
  return requests
}
