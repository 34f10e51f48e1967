import { KindGuard, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { RESPONSE_KINDS, type ResponseKind } from '#http/plugins/response-kinds.ts'

import type { RouteRow } from './route-table.ts'

const JsonDate = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$` })

const wireSchemas = new WeakMap<TSchema, TSchema>()

/** Whether the routes at such a path declare their response. */
export const hasDeclaredResponse = (path: string): boolean =>
  /^\/(?:admin|portal)(?:\/|$)/.test(path)

/** How a response that is no error differs from what its route declares; undefined if it does not. */
export async function responseDifference(
  { schemas, responds }: Pick<RouteRow, 'schemas' | 'responds'>,
  response: Response,
): Promise<string | undefined> {
  const type = response.headers.get('content-type')?.split(';')[0]
  const schema = type === 'application/json' ? schemas[response.status] : undefined
  if (schema !== undefined) return jsonDifference(schema, await response.clone().json())
  if (responds !== undefined && isOfKind(responds, response.status, type)) return undefined
  return `${response.status} ${type ?? 'without a type'}`
}

function isOfKind(responds: ResponseKind, found: number, type: string | undefined): boolean {
  if (responds === 'page' && found === 303) return true
  const { status, mediaTypes }: { status: number; mediaTypes: readonly string[] } =
    RESPONSE_KINDS[responds]
  const hasType = type === undefined ? mediaTypes.length === 0 : mediaTypes.includes(type)
  return found === status && hasType
}

function jsonDifference(schema: TSchema, json: unknown): string | undefined {
  const wire = wireSchemas.get(schema) ?? jsonSchema(schema)
  wireSchemas.set(schema, wire)
  if (Value.Check(wire, json)) return undefined
  return [...Value.Errors(wire, json)]
    .slice(0, 5)
    .map(({ path, message }) => `${path || '/'} ${message}`)
    .join(', ')
}

/** The schema of the JSON: dates are texts, and objects have no fields but those that it names. */
function jsonSchema(schema: TSchema): TSchema {
  if (KindGuard.IsDate(schema)) return JsonDate
  if (KindGuard.IsArray(schema)) return { ...schema, items: jsonSchema(schema.items) }
  if (KindGuard.IsUnion(schema)) return { ...schema, anyOf: schema.anyOf.map(jsonSchema) }
  if (KindGuard.IsRecord(schema))
    return { ...schema, patternProperties: mapped(schema.patternProperties) }
  if (!KindGuard.IsObject(schema) || Object.keys(schema.properties).length === 0) return schema
  return { additionalProperties: false, ...schema, properties: mapped(schema.properties) }
}

const mapped = (schemas: Readonly<Record<string, TSchema>>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, jsonSchema(schema)]))
