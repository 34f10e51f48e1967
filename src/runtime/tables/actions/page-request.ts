import { AppError } from '#base/app-error.ts'
import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { matches } from '#runtime/tables/expressions/matches.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import { attributeOf, type Item, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  checkStartKey,
  type KeyAttribute,
  type KeySchema,
  keyAttributes,
  keyFits,
} from '#runtime/tables/items/key-schema.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'
import type { Bound } from '#runtime/tables/store/key-range.ts'
import { itemOf, type StoredItem } from '#runtime/tables/store/stored-item.ts'
import type { PageRequest, StoredPage } from '#runtime/tables/store/table-store.ts'
import type { Table } from '#runtime/tables/table.ts'

import type { ActionAnswer, ActionRequest } from './action.ts'
import { writtenOf } from './get-item.ts'
import { flag, integer, parameter, text } from './parameters.ts'

/** A checked Query or Scan. */
export interface ItemPage {
  readonly request: PageRequest
  readonly answer: (page: StoredPage) => ActionAnswer
}

/** The table or the index that a page is read from. */
export interface Source {
  readonly index?: string
  readonly keys: KeySchema
}

/** Items of a page at most: beyond, tiny items would take long to read at once. */
const MOST_ITEMS = 10_000
const INVALID = 'One or more parameter values were invalid: '
const INVALID_START = 'The provided starting key is invalid'
/** Faults of a start key that DynamoDB reports without saying of what. */
const BARE_FAULT =
  /contains duplicates|number set|numeric value|significant digits|number with magnitude/

export function sourceOf({ table, body }: ActionRequest): Source {
  const name = text(body, 'IndexName')
  if (name === undefined) return { keys: table.schema }
  const index = table.schema.globalSecondaryIndexes?.find((each) => each.name === name)
  if (index === undefined) {
    throw invalidRequest(`The table does not have the specified index: ${name}`)
  }
  if (flag(body, 'ConsistentRead') === true) {
    throw invalidRequest('Consistent reads are not supported on global secondary indexes')
  }
  return { index: name, keys: index }
}

/** Reads the values of a start key; what they have to be is not asked yet. */
export function readStartKey({ body, codec }: ActionRequest): Item | undefined {
  const given = parameter(body, 'ExclusiveStartKey')
  if (given === undefined) return undefined
  try {
    return codec.readItem(given)
  } catch (error) {
    if (!(error instanceof AppError) || BARE_FAULT.test(error.message)) throw error
    throw invalidRequest(`${INVALID_START}: ${error.message}`)
  }
}

/** Refuses combinations of `Select` that mean nothing. */
export function checkSelect({ body }: ActionRequest): void {
  const select = text(body, 'Select')
  const projection = text(body, 'ProjectionExpression') !== undefined
  if (select === 'ALL_PROJECTED_ATTRIBUTES' && text(body, 'IndexName') === undefined) {
    throw invalidRequest(
      `${INVALID}ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName`,
    )
  }
  if (select === 'SPECIFIC_ATTRIBUTES' && !projection) {
    throw invalidRequest(
      `${INVALID}Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES`,
    )
  }
  if (projection && select !== undefined && select !== 'SPECIFIC_ATTRIBUTES') {
    const chosen = select === 'COUNT' ? 'only the Count' : select
    throw invalidRequest(`Cannot specify the ProjectionExpression when choosing to get ${chosen}`)
  }
}

/** Every attribute that a start key of the source has: those of the table, and those of the index. */
export function startKeyNames(table: Table, { keys }: Source): readonly string[] {
  const names = [...keyAttributes(table.schema), ...keyAttributes(keys)].map(({ name }) => name)
  return [...new Set(names)]
}

/** Refuses a start key without the keys of the index. */
export function checkIndexStart(start: Item, keys: KeySchema): void {
  for (const attribute of keyAttributes(keys)) checkStartAttribute(start, attribute, keys)
}

/** Refuses a start key without one key of the index. */
export function checkStartAttribute(start: Item, attribute: KeyAttribute, keys: KeySchema): void {
  const value = attributeOf(start, attribute.name)
  if (value === undefined) throw invalidRequest(INVALID_START)
  if (typeOf(value) !== attribute.type || !keyFits(attribute, value, keys)) {
    checkStartKey({ [attribute.name]: value }, { partitionKey: attribute })
  }
}

/** Refuses a start key without the key of an item, and says where it stands. */
export function boundOf(start: Item, table: Table, source: Source): Bound {
  const entries = keyAttributes(table.schema).flatMap(({ name }) => {
    const value = attributeOf(start, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  try {
    checkStartKey(Object.fromEntries(entries), table.schema)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalidRequest(`${INVALID_START}: ${error.message}`)
  }
  const item = itemKeyOf(start, table.schema)
  return source.index === undefined ? item : { ...itemKeyOf(start, source.keys), item }
}

export const limitOf = ({ body }: ActionRequest): number =>
  Math.min(integer(body, 'Limit') ?? MOST_ITEMS, MOST_ITEMS)

export function pageAnswer(
  request: ActionRequest,
  source: Source,
  { filter, projection }: BoundExpressions,
): ItemPage['answer'] {
  const { table, body, codec } = request
  return ({ items, full }) => {
    const kept =
      filter === undefined ? items : items.filter((each) => matches(filter.condition, itemOf(each)))
    const last = full ? items.at(-1) : undefined
    return {
      ...(text(body, 'Select') !== 'COUNT' && {
        Items: kept.map((stored) => writtenOf(stored, projection, codec)),
      }),
      Count: kept.length,
      ScannedCount: items.length,
      ...(last && {
        LastEvaluatedKey: codec.writeStored(picked(last, startKeyNames(table, source))),
      }),
    }
  }
}

const picked = (stored: StoredItem, names: readonly string[]): StoredItem =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(stored, name) ? stored[name] : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )
