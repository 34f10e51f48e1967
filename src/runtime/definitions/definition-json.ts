import { isJsonObject } from '#base/json-object.ts'
import { withExactNumbers } from '#runtime/tables/items/exact-numbers.ts'

/**
 * Parses a definition. What its presets fix may be values of items, whose numbers keep all of their digits; other numbers, as in
 * the payload of a job, are those of JavaScript. Throws a `SyntaxError`.
 */
export function parseDefinitionJson(json: string): unknown {
  return parsed(json, withExactFixed)
}

/** The same for the body of a request, whose field `definition` it is. */
export function parseDefinitionBody(json: string): unknown {
  return parsed(json, (body, exact) =>
    isJsonObject(body) && isJsonObject(exact) && isJsonObject(body['definition'])
      ? { ...body, definition: withExactFixed(body['definition'], exact['definition']) }
      : body,
  )
}

function parsed(json: string, merge: (value: unknown, exact: unknown) => unknown): unknown {
  const value: unknown = JSON.parse(json)
  const exact = withExactNumbers(json)
  return exact === json ? value : merge(value, JSON.parse(exact))
}

/** `exact` is the same document. */
function withExactFixed(definition: unknown, exact: unknown): unknown {
  if (!isJsonObject(definition) || !isJsonObject(exact)) return definition
  const { operations } = definition
  const { operations: exactOperations } = exact
  if (!Array.isArray(operations) || !Array.isArray(exactOperations)) return definition
  const merged = operations.map((operation: unknown, at) => {
    const exactly: unknown = exactOperations[at]
    const fixes = isJsonObject(operation) && 'fixed' in operation && isJsonObject(exactly)
    return fixes ? { ...operation, fixed: exactly['fixed'] } : operation
  })
  return { ...definition, operations: merged }
}
