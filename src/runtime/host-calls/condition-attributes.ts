import { isJsonObject } from '#base/json-object.ts'
import type { DocumentPath } from '#runtime/tables/expressions/document-path.ts'
import { ExpressionError } from '#runtime/tables/expressions/expression-error.ts'
import { parseCondition } from '#runtime/tables/expressions/parse-condition.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import { type KeySchema, keyAttributes } from '#runtime/tables/items/key-schema.ts'

/**
 * Whether a condition of a write asks for more than whether the item exists: it names an attribute that is not of the
 * table's key, which the caller sends anyway.
 */
export const readsBeyondKeys = (schema: KeySchema, write: unknown): boolean =>
  everyFieldOf(write, 'conditionExpression').some(
    (text) => typeof text === 'string' && namesBeyondKeys(schema, text, namesOf(write)),
  )

type Names = (placeholder: string) => readonly unknown[]

function namesBeyondKeys(schema: KeySchema, text: string, names: Names): boolean {
  const keys = new Set<unknown>(keyAttributes(schema).map(({ name }) => name))
  const isOfKey = ([first, ...inside]: DocumentPath): boolean => {
    if (inside.length > 0 || typeof first !== 'string') return false
    const meant = first.startsWith('#') ? names(first) : [first]
    return meant.every((name) => keys.has(name))
  }
  return pathsOf(text).some((path) => !isOfKey(path))
}

/** None of a text that is no condition: its action refuses it before it looks at anything. */
function pathsOf(text: string): readonly DocumentPath[] {
  try {
    return pathsIn(parseCondition(text))
  } catch (error) {
    if (error instanceof ExpressionError) return []
    throw error
  }
}

/** What a placeholder may stand for, in either spelling of the field. */
const namesOf =
  (write: unknown): Names =>
  (placeholder) =>
    everyFieldOf(write, 'expressionAttributeNames').flatMap((names) =>
      isJsonObject(names) && Object.hasOwn(names, placeholder) ? [names[placeholder]] : [],
    )

/** What is under that name, read in camelCase and in PascalCase: null is the same as nothing. */
export function everyFieldOf(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = new Map<string, unknown>(Object.entries(value))
  return [name, name.charAt(0).toUpperCase() + name.slice(1)].flatMap((spelled) => {
    const found = fields.get(spelled) ?? null
    return found === null ? [] : [found]
  })
}
