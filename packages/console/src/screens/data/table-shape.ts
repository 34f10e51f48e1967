import { type Item, markerContent, writeItem } from './exact-json.ts'

export type KeyType = 'S' | 'N' | 'B'
export const KEY_TYPES: readonly KeyType[] = ['S', 'N', 'B']

export interface KeyAttribute {
  readonly name: string
  readonly type: KeyType
}

export interface KeySchema {
  readonly partitionKey: KeyAttribute
  readonly sortKey: KeyAttribute | undefined
}

interface TableIndex extends KeySchema {
  readonly indexName: string
}

/** The keys and indexes of a table. */
export interface TableShape extends KeySchema {
  readonly ttlAttribute: string | undefined
  readonly indexes: readonly TableIndex[]
}

/** Reads the config of a `ddbTable`. */
export function tableShape(config: unknown): TableShape {
  const ttl = field(config, 'ttlAttribute')
  const indexes = field(config, 'globalSecondaryIndexes')
  return {
    ...keySchema(config),
    ttlAttribute: typeof ttl === 'string' ? ttl : undefined,
    indexes: (Array.isArray(indexes) ? indexes : []).map((index: unknown) => ({
      ...keySchema(index),
      indexName: String(field(index, 'indexName')),
    })),
  }
}

function keySchema(config: unknown): KeySchema {
  const partitionKey = keyAttribute(field(config, 'partitionKey'))
  if (partitionKey === undefined) throw new Error('The table has no partition key')
  return { partitionKey, sortKey: keyAttribute(field(config, 'sortKey')) }
}

function keyAttribute(value: unknown): KeyAttribute | undefined {
  const name = field(value, 'name')
  const type = KEY_TYPES.find((each) => each === field(value, 'type'))
  return typeof name === 'string' && type ? { name, type } : undefined
}

const field = (value: unknown, name: string): unknown => Reflect.get(Object(value), name)

export const keyAttributes = ({ partitionKey, sortKey }: KeySchema): readonly KeyAttribute[] =>
  sortKey === undefined ? [partitionKey] : [partitionKey, sortKey]

export const keyNames = (schema: KeySchema): readonly string[] =>
  keyAttributes(schema).map(({ name }) => name)

/** The key of an item. */
export const keyOf = (schema: KeySchema, item: Item): Item =>
  Object.fromEntries(keyNames(schema).map((name) => [name, item[name]]))

/** The same text for the same key. */
export const keyText = (schema: KeySchema, item: Item): string =>
  writeItem(keyOf(schema, item), { isSorted: true })

export type ValueType = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'L' | 'M' | 'SET'

/** What kind of value an attribute has, by DynamoDB's letters. */
export function valueType(value: unknown): ValueType {
  if (value === null) return 'NULL'
  if (Array.isArray(value)) return 'L'
  if (typeof value === 'string') return 'S'
  if (typeof value === 'number' || markerContent(value, '$number') !== undefined) return 'N'
  if (typeof value === 'boolean') return 'BOOL'
  if (markerContent(value, '$binary') !== undefined) return 'B'
  return markerContent(value, '$set') === undefined ? 'M' : 'SET'
}

/** The names of attributes in a list of items: keys first, then those that most items have. */
export function columnNames(shape: TableShape, items: readonly Item[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const item of items) {
    for (const name of Object.keys(item)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const keys = keyNames(shape)
  const others = [...counts]
    .filter(([name]) => !keys.includes(name))
    .toSorted(([one, count], [other, more]) => more - count || (one < other ? -1 : 1))
  return [...keys, ...others.map(([name]) => name)]
}
