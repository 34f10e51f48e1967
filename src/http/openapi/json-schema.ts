import { KindGuard, type TSchema, TransformKind } from '@sinclair/typebox'

/** JSON Schema of 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Keywords that mean in JSON Schema what they mean in TypeBox. */
const TAKEN: ReadonlySet<string> = new Set([
  'type',
  'const',
  'enum',
  'required',
  'title',
  'description',
  'default',
  'examples',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
])
/** What the service reads beside the schema itself. */
const OWN: ReadonlySet<string> = new Set(['fault', 'repeatable'])

/** What replaces each schema within another, such as a reference to it. */
type Resolve = (schema: TSchema) => JsonSchema

/**
 * The schema of the JSON that a route takes or responds with: dates are texts, and numbers of a query are numbers. Throws for a
 * keyword that no route had before.
 */
export function jsonSchema(schema: TSchema, resolve: Resolve = jsonSchema): JsonSchema {
  if (KindGuard.IsDate(schema)) return { type: 'string', format: 'date-time' }
  if (TransformKind in schema) return decoded(schema, resolve)
  const entries = Object.entries(schema)
    .filter(([keyword, value]) => !OWN.has(keyword) && value !== undefined)
    .flatMap(([keyword, value]) => converted(keyword, value, resolve))
  const { description } = schema
  const fault: unknown = schema['fault']
  if (description === undefined && typeof fault === 'string')
    entries.push(['description', sentence(fault)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** A parameter that arrives as text and is read as something else. */
function decoded(schema: TSchema, resolve: Resolve): JsonSchema {
  const options: readonly TSchema[] = KindGuard.IsUnion(schema) ? schema.anyOf : []
  const read = options.find((option) => !KindGuard.IsString(option))
  if (read === undefined) throw new Error('A schema is transformed from what is no union')
  return resolve(read)
}

function converted(keyword: string, value: unknown, resolve: Resolve): [string, unknown][] {
  if (TAKEN.has(keyword)) return [[keyword, value]]
  switch (keyword) {
    case 'items':
    case 'additionalProperties':
      return [[keyword, inner(value, resolve)]]
    case 'properties':
    case 'patternProperties':
      return [[keyword, mapped(value, resolve)]]
    case 'anyOf':
      return alternatives(asSchemas(value), resolve)
    case 'allOf':
      return [[keyword, asSchemas(value).map((schema) => resolve(schema))]]
    default:
      throw new Error(`The document has no place for the keyword "${keyword}" of a schema`)
  }
}

const inner = (value: unknown, resolve: Resolve): JsonSchema | boolean =>
  typeof value === 'boolean' ? value : resolve(asSchema(value))

/** Constants of one type are an `enum`, which readers of documents know better than a choice of constants. */
function alternatives(options: readonly TSchema[], resolve: Resolve): [string, unknown][] {
  const [first] = options
  const isEnum =
    first !== undefined &&
    options.every((option) => KindGuard.IsLiteral(option) && option['type'] === first['type'])
  if (!isEnum) return [['anyOf', options.map((option) => resolve(option))]]
  return [
    ['type', first['type']],
    ['enum', options.map((option): unknown => option['const'])],
  ]
}

const mapped = (value: unknown, resolve: Resolve): JsonSchema =>
  Object.fromEntries(
    Object.entries(Object(value)).map(([name, schema]) => [name, resolve(asSchema(schema))]),
  )

function asSchema(value: unknown): TSchema {
  if (!KindGuard.IsSchema(value)) throw new Error('A value in a schema is no schema')
  return value
}

function asSchemas(value: unknown): readonly TSchema[] {
  if (!Array.isArray(value)) throw new Error('A choice of schemas is no list')
  return value.map(asSchema)
}

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`
