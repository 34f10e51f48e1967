import type { TSchema } from '@sinclair/typebox'

import { canonicalJson } from '#base/canonical-json.ts'

import { type JsonSchema, jsonSchema } from './json-schema.ts'

/** The schemas of one document that have a name. Those without stand where they are used. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, JsonSchema>()

  /** The schema as it stands in the document: a reference where it, or one within it, has a `title`. */
  of(schema: TSchema): JsonSchema {
    const found = jsonSchema(schema, (inner) => this.of(inner))
    const { title, ...unnamed } = found
    return typeof title === 'string' ? this.add(title, unnamed) : found
  }

  /** Gives a schema a name, and returns the reference to it. Throws where another schema has that name. */
  add(name: string, schema: JsonSchema): JsonSchema {
    if (!/^[A-Za-z]\w*$/.test(name)) throw new Error(`"${name}" is no name for a schema`)
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
