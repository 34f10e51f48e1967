import type { OperationSchema } from '#runtime/operations/schemas/json-schema.ts'

const ONE: ReadonlySet<string> = new Set([
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])
const LISTS: ReadonlySet<string> = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf'])
const MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'properties',
  'patternProperties',
  'dependentSchemas',
])

/** The schema of an operation as a part of another document: what it refers to is below `root` there. */
export function embeddedSchema(schema: unknown, root: string): OperationSchema {
  if (typeof schema !== 'object' || schema === null) return schema === true
  const embed = (inner: unknown) => embeddedSchema(inner, root)
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === '$schema') return []
    if (keyword === '$ref' && typeof value === 'string') return [[keyword, root + value.slice(1)]]
    if (ONE.has(keyword)) return [[keyword, embed(value)]]
    if (LISTS.has(keyword) && Array.isArray(value)) return [[keyword, value.map(embed)]]
    if (!MAPS.has(keyword)) return [[keyword, value]]
    const inner = Object.entries(value ?? {}).map(([name, each]) => [name, embed(each)])
    return [[keyword, Object.fromEntries(inner)]]
  })
  return Object.fromEntries(entries)
}
