import { isJsonObject, type JsonObject } from '#base/json-object.ts'
import { type KeySchema, keyAttributes } from '#runtime/tables/items/key-schema.ts'

import { ACTION_FIELDS } from './action-fields.ts'
import { camelCase } from './request-fields.ts'

const { required, optional } = ACTION_FIELDS.get
const FIELD_NAMES: ReadonlySet<string> = new Set(Object.keys({ ...required, ...optional }))

/**
 * Reads a body that is the key itself: `{ "id": "a1" }`. It is taken for one only when it has exactly the table's key
 * attributes and none of them is called like a field of the request, so that no other reading is possible.
 */
export function bareKey(
  schema: KeySchema,
  input: unknown,
): { readonly key: JsonObject } | undefined {
  if (!isJsonObject(input)) return undefined
  const keys = keyAttributes(schema)
  const isKey =
    Object.keys(input).length === keys.length &&
    keys.every(({ name }) => Object.hasOwn(input, name) && !FIELD_NAMES.has(camelCase(name)))
  return isKey ? { key: input } : undefined
}
