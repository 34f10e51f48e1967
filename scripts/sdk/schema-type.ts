import type { TSchema } from '@sinclair/typebox'

const KEYWORDS: Readonly<Record<string, string>> = {
  string: 'string',
  // JSON has no dates.
  Date: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** The TypeScript of what a schema allows, on one line. Throws at a schema of a kind that no route had before. */
export function schemaType(schema: TSchema): string {
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['anyOf'])) return union(schema['anyOf'])
  const type: unknown = schema['type']
  if (type === undefined && Object.keys(schema).every((key) => key === 'fault')) return 'unknown'
  if (type === 'array') return `ReadonlyArray<${schemaType(schema['items'])}>`
  if (type === 'object') return objectType(schema)
  const keyword = KEYWORDS[String(type)]
  if (keyword === undefined) throw new Error(`No type for the schema ${JSON.stringify(schema)}`)
  return keyword
}

const union = (schemas: readonly TSchema[]): string =>
  [...new Set(schemas.map((schema) => schemaType(schema)))].join(' | ')

function objectType(schema: TSchema): string {
  const patterns: Readonly<Record<string, TSchema>> = schema['patternProperties'] ?? {}
  const [values] = Object.values(patterns)
  if (values !== undefined) return `Readonly<Record<string, ${schemaType(values)}>>`
  const properties: Readonly<Record<string, TSchema>> = schema['properties'] ?? {}
  const required: readonly string[] = schema['required'] ?? []
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
    return `readonly ${key}${required.includes(name) ? '' : '?'}: ${schemaType(property)}`
  })
  return fields.length === 0 ? 'Readonly<Record<string, unknown>>' : `{ ${fields.join('; ')} }`
}
