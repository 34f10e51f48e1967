import type { TSchema } from '@sinclair/typebox'

import { canonicalJson } from '#base/canonical-json.ts'

import { type JsonSchema, jsonSchema } from './json-schema.ts'

/** Whether a client sends what the schema is of. What it does not know is refused then, and may be there otherwise. */
type Direction = 'request' | 'response'

/** The schemas of one document that have a name. Those without are written where they are used. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, JsonSchema>()

  /** The schema as the document has it: a reference where it, or one within it, has a `title`. */
  of(schema: TSchema, direction: Direction): JsonSchema {
    const found = bounded(
      jsonSchema(schema, (inner) => this.of(inner, direction)),
      direction,
    )
    const { title, ...unnamed } = found
    return typeof title === 'string' ? this.add(title, unnamed) : found
  }

  /** Gives a schema a name, and returns the reference to it. Throws where another schema has that name. */
  add(name: string, schema: JsonSchema): JsonSchema {
    if (!/^[A-Za-z][\w.-]*$/.test(name)) throw new Error(`"${name}" is no name for a schema`)
    const known = this.#schemas.get(name)
    if (known !== undefined && canonicalJson(known) !== canonicalJson(schema))
      throw new Error(`Two schemas have the name "${name}"`)
    this.#schemas.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** By name. */
  entries(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Elysia closes some of the schemas when their route is first called: what the document says must not depend on that. */
function bounded(
  { additionalProperties, ...schema }: JsonSchema,
  direction: Direction,
): JsonSchema {
  if (typeof additionalProperties === 'object' || additionalProperties === true)
    return { ...schema, additionalProperties }
  const names = { ...Object(schema['properties']), ...Object(schema['patternProperties']) }
  const isClosed = direction === 'request' && Object.keys(names).length > 0
  return isClosed ? { ...schema, additionalProperties: false } : schema
}
