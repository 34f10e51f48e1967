import { Buffer } from 'node:buffer'

import { validationError } from '#runtime/tables/validation-error.ts'

import { attributeOf, type AttributeValue, type Item, typeOf } from './attribute-value.ts'
import { decodedLength } from './base64.ts'
import { fieldsNamed } from './map-fields.ts'

export interface KeyAttribute {
  readonly name: string
  readonly type: 'S' | 'N' | 'B'
}

export interface KeySchema {
  readonly partitionKey: KeyAttribute
  readonly sortKey?: KeyAttribute
}

export interface IndexSchema extends KeySchema {
  readonly name: string
  /** All attributes where there is none. */
  readonly projection?: {
    readonly projectionType: 'KEYS_ONLY' | 'INCLUDE'
    readonly nonKeyAttributes?: readonly string[]
  }
}

export interface TableSchema extends KeySchema {
  readonly globalSecondaryIndexes?: readonly IndexSchema[]
}

const MAX_PARTITION_KEY_BYTES = 2048
const MAX_SORT_KEY_BYTES = 1024
const INVALID = 'One or more parameter values were invalid: '
const NOT_VALID = 'One or more parameter values are not valid. '
const MISMATCH = 'The provided key element does not match the schema'

export const keyAttributes = ({ partitionKey, sortKey }: KeySchema): readonly KeyAttribute[] =>
  sortKey === undefined ? [partitionKey] : [partitionKey, sortKey]

/** The key attributes of an item that has them. */
export const keyOf = (item: Item, schema: KeySchema): Item =>
  fieldsNamed(
    item,
    keyAttributes(schema).map(({ name }) => name),
  )

/** Each key attribute of each index, with the name of the index. */
export const indexKeyAttributes = (
  schema: TableSchema,
): readonly (KeyAttribute & { readonly index: string })[] =>
  (schema.globalSecondaryIndexes ?? []).flatMap((index) =>
    keyAttributes(index).map((key) => ({ ...key, index: index.name })),
  )

/** Refuses a key that has not exactly the key attributes, of their types and within their sizes. */
export const checkItemKey = (key: Item, schema: KeySchema): void =>
  checkKeyAs(key, schema, NOT_VALID)

/** The same for the key where a page starts, of which DynamoDB says in older words that it is empty. */
export const checkStartKey = (key: Item, schema: KeySchema): void =>
  checkKeyAs(key, schema, INVALID)

function checkKeyAs(key: Item, schema: KeySchema, opening: string): void {
  const attributes = keyAttributes(schema)
  if (Object.keys(key).length !== attributes.length) throw validationError(MISMATCH)
  for (const attribute of attributes) {
    const value = attributeOf(key, attribute.name)
    if (value === undefined || typeOf(value) !== attribute.type) throw validationError(MISMATCH)
    checkKeyValue(attribute, value, opening)
    checkKeySize(attribute, value, schema)
  }
}

/** Refuses an item that lacks a key attribute or whose keys, also those of indexes, cannot be kept. */
export function checkItemKeys(item: Item, schema: TableSchema): void {
  for (const attribute of keyAttributes(schema)) {
    const value = attributeOf(item, attribute.name)
    if (value === undefined) {
      throw validationError(`${INVALID}Missing the key ${attribute.name} in the item`)
    }
    if (typeOf(value) !== attribute.type) {
      throw validationError(
        `${INVALID}Type mismatch for key ${attribute.name} expected: ${attribute.type} actual: ${typeOf(value)}`,
      )
    }
    checkKeyValue(attribute, value, NOT_VALID)
    checkKeySize(attribute, value, schema)
  }
  checkIndexKeys(item, schema)
}

/** Refuses keys, also those of indexes, that are empty, and says nothing of others that cannot be kept. */
export function checkEmptyKeys(item: Item, schema: TableSchema): void {
  for (const attribute of keyAttributes(schema)) {
    const value = attributeOf(item, attribute.name)
    if (value !== undefined && typeOf(value) === attribute.type) {
      checkKeyValue(attribute, value, NOT_VALID)
    }
  }
  for (const attribute of indexKeyAttributes(schema)) {
    const value = attributeOf(item, attribute.name)
    if (value === undefined || typeOf(value) !== attribute.type) continue
    if (isEmptyKey(value)) throw emptyIndexKey(attribute, value)
  }
}

/** An index key may be missing, which leaves the item out of the index; else it must have its type. */
function checkIndexKeys(item: Item, schema: TableSchema): void {
  for (const attribute of indexKeyAttributes(schema)) {
    const value = attributeOf(item, attribute.name)
    if (value === undefined) continue
    if (typeOf(value) !== attribute.type) throw indexMismatch(attribute, typeOf(value))
    if (isEmptyKey(value)) throw emptyIndexKey(attribute, value)
  }
  checkIndexKeySizes(item, schema)
}

/** Keys of indexes have the same limits as those of tables. */
export function checkIndexKeySizes(item: Item, schema: TableSchema): void {
  for (const index of schema.globalSecondaryIndexes ?? []) {
    for (const attribute of keyAttributes(index)) {
      const value = attributeOf(item, attribute.name)
      if (value !== undefined) checkKeySize(attribute, value, index)
    }
  }
}

/** Whether a value of the right type can be a key. */
export const keyFits = (
  attribute: KeyAttribute,
  value: AttributeValue,
  schema: KeySchema,
): boolean => !isEmptyKey(value) && keyBytes(value) <= maxKeyBytes(attribute, schema)

export const indexMismatch = (
  attribute: KeyAttribute & { readonly index: string },
  actual: string,
): Error =>
  validationError(
    `${INVALID}Type mismatch for Index Key ${attribute.name} Expected: ${attribute.type} Actual: ${actual} IndexName: ${attribute.index}`,
  )

const emptyIndexKey = (
  { name, index }: KeyAttribute & { readonly index: string },
  value: AttributeValue,
): Error =>
  validationError(
    `${NOT_VALID}A value specified for a secondary index key is not supported. ` +
      `The AttributeValue for a key attribute cannot contain an empty ${kindOf(value)} value. IndexName: ${index}, IndexKey: ${name}`,
  )

function checkKeyValue(attribute: KeyAttribute, value: AttributeValue, opening: string): void {
  if (!isEmptyKey(value)) return
  throw validationError(
    `${opening}The AttributeValue for a key attribute cannot contain an empty ${kindOf(value)} value. Key: ${attribute.name}`,
  )
}

function checkKeySize(attribute: KeyAttribute, value: AttributeValue, schema: KeySchema): void {
  if (keyBytes(value) <= maxKeyBytes(attribute, schema)) return
  throw validationError(
    attribute === schema.partitionKey
      ? `${INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes`
      : `${INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes`,
  )
}

const maxKeyBytes = (attribute: KeyAttribute, { partitionKey }: KeySchema): number =>
  attribute === partitionKey ? MAX_PARTITION_KEY_BYTES : MAX_SORT_KEY_BYTES

/** No key is an empty string or binary. */
export const isEmptyKey = (value: AttributeValue): boolean =>
  ('S' in value && value.S === '') || ('B' in value && value.B === '')

const kindOf = (value: AttributeValue): string => ('B' in value ? 'binary' : 'string')

/** Numbers are always short enough. */
function keyBytes(value: AttributeValue): number {
  if ('S' in value) return Buffer.byteLength(value.S, 'utf8')
  return 'B' in value ? decodedLength(value.B) : 0
}
