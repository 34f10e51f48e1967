import {
  type AttributeType,
  attributeOf,
  type AttributeValue,
  type Item,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'
import {
  checkIndexKeySizes,
  indexKeyAttributes,
  indexMismatch,
  isEmptyKey,
  keyAttributes,
  type KeySchema,
  type TableSchema,
} from '#runtime/tables/items/key-schema.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { staticTypeOf } from './bind-operand.ts'
import type { Update } from './bind-update.ts'
import type { DocumentPath } from './document-path.ts'
import type { Operand, UpdateAction } from './syntax.ts'

const NESTED_KEY =
  "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "

/** Keys hold no documents, so no path goes below one. */
export function checkNestedPaths(paths: readonly DocumentPath[], schema: TableSchema): void {
  const nested = new Set(paths.flatMap((path) => (path.length > 1 ? [path[0]] : [])))
  for (const { name } of keyAttributes(schema)) {
    if (nested.has(name)) throw validationError(`${NESTED_KEY}Key: ${name}`)
  }
  for (const { name } of indexKeyAttributes(schema)) {
    if (nested.has(name)) throw validationError(`${NESTED_KEY}IndexKey: ${name}`)
  }
}

/** The filter of a query may not ask again for the keys of the table or index that is queried. */
export function checkFilterPaths(paths: readonly DocumentPath[], queried: KeySchema): void {
  for (const { name } of keyAttributes(queried)) {
    if (paths.some(([head]) => head === name)) {
      throw validationError(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`,
      )
    }
  }
}

/** An update never writes a key attribute, nor another type than an index asks for. */
export function checkUpdateKeys(update: Update, schema: TableSchema): void {
  for (const { name } of keyAttributes(schema)) {
    if (update.actions.some(({ path: [head] }) => head === name)) {
      throw validationError(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      )
    }
  }
  for (const attribute of indexKeyAttributes(schema)) {
    const action = update.actions.find(
      ({ path }) => path.length === 1 && path[0] === attribute.name,
    )
    const type = action?.value && typeAfter(action.value)
    if (type !== undefined && type !== attribute.type) throw indexMismatch(attribute, type)
  }
  checkNestedPaths(update.paths, schema)
}

/** The type of what a SET puts into the key of an index, where it took its value from the item. */
export function checkAssignedKey(
  action: UpdateAction,
  assigned: AttributeValue | undefined,
  schema: TableSchema,
): void {
  if (assigned === undefined) return
  const names = topLevelOfSet(action)
  const mismatch = indexKeyAttributes(schema).some(
    ({ name, type }) => names.includes(name) && typeOf(assigned) !== type,
  )
  if (!mismatch) return
  throw validationError(
    'The update expression attempted to update the secondary index key to unsupported type',
  )
}

/** Whether what an update left in the keys of indexes can be kept there. Their types have been checked. */
export function checkUpdatedIndexKeys(update: Update, after: Item, schema: TableSchema): void {
  const set = new Set(update.actions.flatMap((action) => topLevelOfSet(action)))
  for (const { name, index } of indexKeyAttributes(schema)) {
    const value = set.has(name) ? attributeOf(after, name) : undefined
    if (value === undefined || !isEmptyKey(value)) continue
    throw validationError(
      'One or more parameter values are not valid. ' +
        'The update expression attempted to update a secondary index key to a value that is not supported. ' +
        `The AttributeValue for a key attribute cannot contain an empty ${'B' in value ? 'binary' : 'string'} value. ` +
        `IndexName: ${index}, IndexKey: ${name}`,
    )
  }
  if (set.size > 0) checkIndexKeySizes(after, schema)
}

const topLevelOfSet = ({ section, path }: UpdateAction): (string | number | undefined)[] =>
  section === 'SET' && path.length === 1 ? [path[0]] : []

/** The type that is surely set, if it does not depend on the item. */
function typeAfter(value: Operand): AttributeType | undefined {
  const isDefault = value.kind === 'call' && value.operator === 'if_not_exists'
  const otherwise = isDefault ? value.operands[1] : undefined
  return otherwise === undefined ? staticTypeOf(value) : typeAfter(otherwise)
}
