import type { TObject, TSchema } from '@sinclair/typebox'

export type JsonSchema = Readonly<Record<string, unknown>>

/** The text of each field, or the schema that stands in for that of the parser. */
type Texts<Properties> = { readonly [Name in keyof Properties]: string | JsonSchema }

/** A parser's object as JSON Schema, with a description on each of its fields. */
export function described<Properties extends Readonly<Record<string, TSchema>>>(
  object: TObject<Properties>,
  description: string,
  texts: Texts<Properties>,
): JsonSchema {
  const properties = Object.entries(object.properties).map(([name, schema]) => {
    const text: string | JsonSchema = texts[name] ?? ''
    return [name, typeof text === 'string' ? { description: text, ...plain(schema) } : text]
  })
  return {
    description,
    type: 'object',
    ...(object.required === undefined ? {} : { required: object.required }),
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  }
}

/** The schema without what is TypeBox's own; a choice of words is an `enum`, which editors complete. */
export function plain(schema: TSchema): JsonSchema {
  const { anyOf, ...rest }: JsonSchema = JSON.parse(JSON.stringify(schema), (name, value) =>
    name === 'fault' ? undefined : value,
  )
  if (!Array.isArray(anyOf)) return rest
  const words = anyOf.map((choice: JsonSchema) => choice['const'])
  return words.every((word) => typeof word === 'string')
    ? { ...rest, type: 'string', enum: words }
    : { ...rest, anyOf }
}
