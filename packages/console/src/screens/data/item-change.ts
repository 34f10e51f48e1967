import { type Item, isSameValue } from './exact-json.ts'
import { Expression } from './expression.ts'
import { type KeySchema, keyNames, keyOf } from './table-shape.ts'

/** The names of attributes that differ, in the order in which the items have them. */
export function changedNames(shown: Item, edited: Item): readonly string[] {
  const names = new Set([...Object.keys(shown), ...Object.keys(edited)])
  return [...names].filter((name) => !isSameValue(shown[name], edited[name]))
}

/**
 * The update that makes of the item on show the edited one. It names the changed attributes alone, and succeeds only while each of them
 * still has the value that was shown. Undefined where nothing is changed.
 */
export function updateRequest(
  schema: KeySchema,
  shown: Item,
  edited: Item,
): Readonly<Record<string, unknown>> | undefined {
  const names = changedNames(shown, edited)
  if (names.length === 0) return undefined
  const expression = new Expression()
  const set: string[] = []
  const remove: string[] = []
  const conditions = [`attribute_exists(${expression.name(schema.partitionKey.name)})`]
  for (const name of names) {
    const placeholder = expression.name(name)
    if (edited[name] === undefined) remove.push(placeholder)
    else set.push(`${placeholder} = ${expression.value(edited[name])}`)
    conditions.push(
      shown[name] === undefined
        ? `attribute_not_exists(${placeholder})`
        : `${placeholder} = ${expression.value(shown[name])}`,
    )
  }
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
  ]
  return {
    key: keyOf(schema, shown),
    updateExpression: clauses.join(' '),
    conditionExpression: conditions.join(' AND '),
    ...expression.fields(),
  }
}

/** Puts an item whose key is not in the table yet. */
export function addRequest(schema: KeySchema, item: Item): Readonly<Record<string, unknown>> {
  const expression = new Expression()
  const name = expression.name(schema.partitionKey.name)
  return { item, conditionExpression: `attribute_not_exists(${name})`, ...expression.fields() }
}

/** Whether the edited item is another one: its key differs. */
export const isOtherKey = (schema: KeySchema, shown: Item, edited: Item): boolean =>
  keyNames(schema).some((name) => !isSameValue(shown[name], edited[name]))
