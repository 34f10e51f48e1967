import { parseExact } from './exact-json.ts'
import { Expression } from './expression.ts'
import type { KeyAttribute, KeySchema, KeyType, TableShape } from './table-shape.ts'

export const SORT_OPERATORS = ['', '=', '<', '<=', '>', '>=', 'between', 'begins_with'] as const
type SortOperator = (typeof SORT_OPERATORS)[number]

export const FILTER_OPERATORS = [
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  'begins_with',
  'contains',
  'exists',
  'missing',
] as const
type FilterOperator = (typeof FILTER_OPERATORS)[number]

/** How the text of a filter is read: as text, or as JSON of any type. */
type FilterType = 'text' | 'json'

export interface Filter {
  readonly name: string
  readonly operator: FilterOperator
  readonly type: FilterType
  readonly value: string
}

/** Which items are read, as the form has it. All of it is in the address. */
export interface ReadState {
  /** Empty for a scan, `key` for a query of the table, `index.NAME` for one of an index. */
  readonly by: string
  readonly partition: string
  readonly sortOperator: SortOperator
  readonly sort: string
  readonly sortEnd: string
  readonly isDescending: boolean
  readonly filters: readonly Filter[]
}

export interface ReadRequest {
  readonly action: 'scan' | 'query'
  readonly body: Readonly<Record<string, unknown>>
}

export function readStateOf(query: URLSearchParams): ReadState {
  const text = (name: string) => query.get(name) ?? ''
  return {
    by: text('by'),
    partition: text('partition'),
    sortOperator: SORT_OPERATORS.find((each) => each === text('operator')) ?? '',
    sort: text('sort'),
    sortEnd: text('end'),
    isDescending: text('order') === 'descending',
    filters: query.getAll('filter').flatMap((each) => filterOf(each)),
  }
}

/** The query of the address. */
export function readQuery(state: ReadState): URLSearchParams {
  const isQuery = state.by !== ''
  const sort = isQuery && state.sortOperator !== ''
  const query = new URLSearchParams()
  const put = (name: string, value: string | false) => {
    if (value !== false && value !== '') query.set(name, value)
  }
  put('by', state.by)
  put('partition', isQuery && state.partition)
  put('operator', sort && state.sortOperator)
  put('sort', sort && state.sort)
  put('end', sort && state.sortOperator === 'between' && state.sortEnd)
  put('order', isQuery && state.isDescending && 'descending')
  for (const { name, operator, type, value } of state.filters) {
    query.append('filter', JSON.stringify([name, operator, type, value]))
  }
  return query
}

function filterOf(text: string): readonly Filter[] {
  const parts = partsOf(text)
  const [name, operator, type, value] = parts
  const known = FILTER_OPERATORS.find((each) => each === operator)
  if (typeof name !== 'string' || typeof value !== 'string' || known === undefined) return []
  return [{ name, operator: known, type: type === 'json' ? 'json' : 'text', value }]
}

function partsOf(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(text)
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

/** The keys that a query of the form is by. */
export function schemaOf(shape: TableShape, by: string): KeySchema | undefined {
  if (by === 'key') return shape
  return shape.indexes.find(({ indexName }) => `index.${indexName}` === by)
}

/** A value that is not of the type that its field takes. */
export class ValueFault extends Error {
  /** `partition`, `sort`, `end` or `filter.N`. */
  readonly field: string

  constructor(field: string) {
    super(field)
    this.field = field
  }
}

/** The call of the API that reads the items. Throws `ValueFault`. */
export function readRequest(state: ReadState, shape: TableShape): ReadRequest {
  const expression = new Expression()
  const schema = schemaOf(shape, state.by)
  const keys = schema && keyCondition(expression, schema, state)
  const filters = state.filters.map((filter, at) => filterCondition(expression, filter, at))
  return {
    action: keys === undefined ? 'scan' : 'query',
    body: {
      ...(keys !== undefined && { keyConditionExpression: keys }),
      ...(state.by.startsWith('index.') && schema && { indexName: state.by.slice(6) }),
      ...(filters.length > 0 && { filterExpression: filters.join(' AND ') }),
      ...expression.fields(),
      ...(keys !== undefined && state.isDescending && { scanIndexForward: false }),
    },
  }
}

function keyCondition(expression: Expression, schema: KeySchema, state: ReadState): string {
  const { partitionKey, sortKey } = schema
  const partition = `${expression.name(partitionKey.name)} = ${expression.value(
    keyValue(partitionKey.type, state.partition, 'partition'),
  )}`
  if (sortKey === undefined || state.sortOperator === '') return partition
  return `${partition} AND ${sortCondition(expression, sortKey, state)}`
}

function sortCondition(
  expression: Expression,
  { name, type }: KeyAttribute,
  { sortOperator, sort, sortEnd }: ReadState,
): string {
  const key = expression.name(name)
  const value = expression.value(keyValue(type, sort, 'sort'))
  if (sortOperator === 'between') {
    return `${key} BETWEEN ${value} AND ${expression.value(keyValue(type, sortEnd, 'end'))}`
  }
  if (sortOperator === 'begins_with') return `begins_with(${key}, ${value})`
  return `${key} ${sortOperator} ${value}`
}

/** The value of a key attribute. Binary is written in base64. */
function keyValue(type: KeyType, text: string, field: string): unknown {
  if (text === '') throw new ValueFault(field)
  if (type === 'S') return text
  if (type === 'B') return { $binary: text }
  const trimmed = text.trim()
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) throw new ValueFault(field)
  return parseExact(trimmed)
}

function filterCondition(expression: Expression, filter: Filter, at: number): string {
  const { name, operator } = filter
  if (name === '') throw new ValueFault(`filter.${at}`)
  const path = expression.name(name)
  if (operator === 'exists') return `attribute_exists(${path})`
  if (operator === 'missing') return `attribute_not_exists(${path})`
  const value = expression.value(filterValue(filter, at))
  return operator === 'begins_with' || operator === 'contains'
    ? `${operator}(${path}, ${value})`
    : `${path} ${operator} ${value}`
}

function filterValue({ type, value }: Filter, at: number): unknown {
  if (type === 'text') return value
  try {
    return parseExact(value)
  } catch {
    throw new ValueFault(`filter.${at}`)
  }
}
