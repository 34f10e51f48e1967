import { setImmediate } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import type { ItemPageRequest } from '#runtime/tables/api/action-fields.ts'
import type { DocumentPath } from '#runtime/tables/expressions/document-path.ts'
import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { itemMatches } from '#runtime/tables/expressions/matches.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import { attributeOf, type Item, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  checkStartKey,
  type KeyAttribute,
  type KeySchema,
  keyAttributes,
  keyFits,
  keyOf,
  type IndexSchema,
  type TableSchema,
} from '#runtime/tables/items/key-schema.ts'
import { fieldsNamed } from '#runtime/tables/items/map-fields.ts'
import type { PlainItem } from '#runtime/tables/items/plain-json.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'
import type { Bound } from '#runtime/tables/store/key-range.ts'
import { itemOf, type StoredItem } from '#runtime/tables/store/stored-item.ts'
import type { StoredPage, StoredPageRequest } from '#runtime/tables/store/table-store.ts'
import type { Table } from '#runtime/tables/table.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { projected } from './get-item.ts'
import type { ActionRequest } from './item-change.ts'

/** A checked query or scan. */
export interface ItemPage {
  readonly request: StoredPageRequest
  readonly found: (page: StoredPage) => Promise<FoundPage>
}

/** What a query or scan found on one page. */
export interface FoundPage {
  /** Empty where only the count was asked for. */
  readonly items: PlainItem[]
  /** Items after the filter. */
  readonly count: number
  /** Items before it. */
  readonly scannedCount: number
  readonly lastEvaluatedKey?: PlainItem
}

/** The table or the index that a page is read from. */
export interface Source {
  readonly index?: string
  readonly keys: KeySchema
  /** Those that an index holds; left out where there are all. */
  readonly attributes?: ReadonlySet<string>
}

/** Items of a page at most: beyond, tiny items would take long to read at once. */
const MAX_ITEMS = 10_000

/** Items that are filtered in one stretch: between two, other calls have their turn. */
const SLICE = 500
const INDEX_NAME = '[a-zA-Z0-9_.-]+'
const INDEX_NAME_PATTERN = new RegExp(`^${INDEX_NAME}$`)
const INDEX_NAME_LENGTHS = [3, 255] as const
const INVALID = 'One or more parameter values were invalid: '
const INVALID_START = 'The provided starting key is invalid'

/** Faults of a start key that DynamoDB reports without saying of what. */
const BARE_FAULT =
  /contains duplicates|number set|numeric value|significant digits|number with magnitude/

/** The first check of a page: DynamoDB looks at single parameters before it looks at their combinations. */
export function checkIndexName({ indexName: name }: ItemPageRequest): void {
  if (name === undefined) return
  const [least, most] = INDEX_NAME_LENGTHS
  const constraints = [
    !INDEX_NAME_PATTERN.test(name) && `satisfy regular expression pattern: ${INDEX_NAME}`,
    name.length < least && `have length greater than or equal to ${least}`,
    name.length > most && `have length less than or equal to ${most}`,
  ].filter((constraint) => constraint !== false)
  if (constraints.length === 0) return
  const faults = constraints.map(
    (constraint) =>
      `Value '${name}' at 'indexName' failed to satisfy constraint: Member must ${constraint}`,
  )
  throw validationError(
    `${faults.length} validation error${faults.length > 1 ? 's' : ''} detected: ${faults.join('; ')}`,
  )
}

export function sourceOf({ table, fields }: ActionRequest<ItemPageRequest>): Source {
  const { indexName: name } = fields
  if (name === undefined) return { keys: table.schema }
  const index = table.schema.globalSecondaryIndexes?.find((each) => each.name === name)
  if (index === undefined) throw unknownIndex(name)
  if (fields.consistentRead === true) {
    throw validationError('Consistent reads are not supported on global secondary indexes')
  }
  const attributes = projectedNames(table.schema, index)
  return { index: name, keys: index, ...(attributes && { attributes }) }
}

export const unknownIndex = (name: string): AppError =>
  validationError(`The table does not have the specified index: ${name}`)

/** Reads the values of a start key; whether they are a key is checked later. */
export function readStartKey({ exclusiveStartKey }: ItemPageRequest): Item | undefined {
  if (exclusiveStartKey === undefined) return undefined
  try {
    return readPlainItem(exclusiveStartKey)
  } catch (error) {
    if (!(error instanceof AppError) || BARE_FAULT.test(error.message)) throw error
    throw validationError(`${INVALID_START}: ${error.message}`)
  }
}

/** Refuses combinations of `Select` that mean nothing. */
export function checkSelect({ select, projectionExpression, indexName }: ItemPageRequest): void {
  const projection = projectionExpression !== undefined
  if (select === 'ALL_PROJECTED_ATTRIBUTES' && indexName === undefined) {
    throw validationError(
      `${INVALID}ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName`,
    )
  }
  if (select === 'SPECIFIC_ATTRIBUTES' && !projection) {
    throw validationError(
      `${INVALID}Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES`,
    )
  }
  if (projection && select !== undefined && select !== 'SPECIFIC_ATTRIBUTES') {
    const chosen = select === 'COUNT' ? 'only the Count' : select
    throw validationError(`Cannot specify the ProjectionExpression when choosing to get ${chosen}`)
  }
}

/** Every attribute that a start key of the source has: those of the table, and those of the index. */
export function startKeyNames(table: Table, { keys }: Source): readonly string[] {
  const names = [...keyAttributes(table.schema), ...keyAttributes(keys)].map(({ name }) => name)
  return [...new Set(names)]
}

/** Refuses a start key without one key of the index. */
export function checkStartAttribute(start: Item, attribute: KeyAttribute, keys: KeySchema): void {
  const value = attributeOf(start, attribute.name)
  if (value === undefined) throw validationError(INVALID_START)
  if (typeOf(value) !== attribute.type || !keyFits(attribute, value, keys)) {
    checkStartKey({ [attribute.name]: value }, { partitionKey: attribute })
  }
}

/** Refuses a start key without the key of an item, and gives its place. */
export function boundOf(start: Item, table: Table, source: Source): Bound {
  try {
    checkStartKey(keyOf(start, table.schema), table.schema)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw validationError(`${INVALID_START}: ${error.message}`)
  }
  const item = itemKeyOf(start, table.schema)
  return source.index === undefined ? item : { ...itemKeyOf(start, source.keys), item }
}

/** A page of a range of the source, and what a request shows of it. */
export function pageOf(
  { table, fields }: ActionRequest<ItemPageRequest>,
  source: Source,
  bound: BoundExpressions,
  { range, forward }: Pick<StoredPageRequest, 'range' | 'forward'>,
): ItemPage {
  checkProjected(fields, bound, source)
  const keyNames = startKeyNames(table, source)
  const shown = (item: StoredItem) =>
    source.attributes === undefined || bound.projection !== undefined
      ? projected(item, bound.projection)
      : fieldsNamed(item, [...source.attributes])
  return {
    request: {
      ...(source.index !== undefined && { index: source.index }),
      range,
      forward,
      limit: Math.min(fields.limit ?? MAX_ITEMS, MAX_ITEMS),
    },
    async found({ items, full }) {
      const { kept, count } = await filtered(
        items,
        bound,
        fields.select === 'COUNT' ? undefined : shown,
      )
      const last = full ? items.at(-1) : undefined
      return {
        items: kept,
        count,
        scannedCount: items.length,
        ...(last && { lastEvaluatedKey: fieldsNamed(last, keyNames) }),
      }
    },
  }
}

async function filtered(
  items: readonly StoredItem[],
  { filter }: BoundExpressions,
  shown: ((item: StoredItem) => StoredItem) | undefined,
): Promise<{ readonly kept: StoredItem[]; readonly count: number }> {
  const kept: StoredItem[] = []
  let count = 0
  for (let at = 0; at < items.length; at += SLICE) {
    if (at > 0) await setImmediate()
    for (const item of items.slice(at, at + SLICE)) {
      if (filter !== undefined && !itemMatches(filter, itemOf(item))) continue
      count += 1
      if (shown !== undefined) kept.push(shown(item))
    }
  }
  return { kept, count }
}

/** The attributes that an index holds of its items; undefined where it holds all. */
function projectedNames(table: TableSchema, index: IndexSchema): ReadonlySet<string> | undefined {
  const { projection } = index
  if (projection === undefined) return undefined
  const keys = [...keyAttributes(table), ...keyAttributes(index)].map(({ name }) => name)
  return new Set([...keys, ...(projection.nonKeyAttributes ?? [])])
}

/** Refuses attributes that the index does not hold. */
function checkProjected(
  { select }: ItemPageRequest,
  { projection, filter }: BoundExpressions,
  { index, attributes }: { readonly index?: string; readonly attributes?: ReadonlySet<string> },
): void {
  if (attributes === undefined) return
  if (select === 'ALL_ATTRIBUTES') {
    throw validationError(
      `${INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index ${index} because its projection type is not ALL`,
    )
  }
  const unfiltered = missing(filter === undefined ? [] : pathsIn(filter), attributes)
  if (unfiltered.length > 0) {
    throw validationError(
      `${INVALID}Secondary index ${index} does not project one or more filter attributes: [${unfiltered.join(', ')}]`,
    )
  }
  const unshown = missing(projection?.paths ?? [], attributes)
  if (unshown.length > 0) {
    throw validationError(
      `${INVALID}Global secondary index ${index} does not project [${unshown.join(', ')}]`,
    )
  }
}

function missing(
  paths: readonly DocumentPath[],
  attributes: ReadonlySet<string>,
): readonly string[] {
  const names = new Set(paths.map(([head]) => String(head)))
  return [...names].filter((name) => !attributes.has(name))
}
