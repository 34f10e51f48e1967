import type { JsonSchema } from '#http/openapi/json-schema.ts'

const MAX_VALUES = 12
/** Objects that are given in place are shown with their fields down to this depth. */
const MAX_DEPTH = 2

/** What a schema takes, in a few words of Markdown: `string, 1 to 512 characters`. */
export function schemaText(schema: JsonSchema, depth = 0): string {
  const { $ref: reference } = schema
  if (typeof reference === 'string') return nameText(reference)
  const options = listOf(schema['anyOf'] ?? schema['oneOf'])
  if (options.length > 0) return optionsText(options, depth)
  if ('const' in schema) return code(JSON.stringify(schema['const']))
  const values = schema['enum']
  if (Array.isArray(values)) return valuesText(values)
  return typeText(schema, depth)
}

/** The fields of an object, with their schemas; none where it is no object with fields. */
export function fieldsOf(schema: JsonSchema): readonly Field[] {
  const properties = objectOf(schema['properties'])
  const required = schema['required']
  return Object.entries(properties).map(([name, value]) => ({
    name,
    schema: objectOf(value),
    isRequired: Array.isArray(required) && required.includes(name),
  }))
}

interface Field {
  readonly name: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

/** The anchor of its heading. */
const schemaAnchor = (name: string): string => name.toLowerCase()

const referencedName = (reference: string): string => reference.replace(/^.*\//, '')

/** A link to a named schema on the same page. */
function nameText(reference: string): string {
  const name = referencedName(reference)
  return `[${name}](#${schemaAnchor(name)})`
}

/** `null` is said last, and short. */
function optionsText(options: readonly JsonSchema[], depth: number): string {
  const isNull = (option: JsonSchema) => option['type'] === 'null'
  const texts = options.filter((option) => !isNull(option)).map((each) => schemaText(each, depth))
  return [...new Set(texts), ...(options.some(isNull) ? ['null'] : [])].join(' or ')
}

function valuesText(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map((value) => code(JSON.stringify(value)))
  return `${shown.join(', ')}${values.length > MAX_VALUES ? ', …' : ''}`
}

function typeText(schema: JsonSchema, depth: number): string {
  switch (schema['type']) {
    case 'string':
      return `string${textOf(schema['format'], ' as ')}${rangeText(schema, 'Length', ' characters')}`
    case 'integer':
    case 'number':
      return `${schema['type']}${numbersText(schema)}`
    case 'array':
      return `array of ${schemaText(objectOf(schema['items']), depth)}${rangeText(schema, 'Items', ' entries')}`
    case 'object':
      return objectText(schema, depth)
    case undefined:
      return 'any JSON'
    default:
      return String(schema['type'])
  }
}

function objectText(schema: JsonSchema, depth: number): string {
  const fields = fieldsOf(schema)
  if (fields.length === 0 || depth >= MAX_DEPTH) return 'object'
  const texts = fields.map(
    ({ name, schema: field, isRequired }) =>
      `${code(isRequired ? name : `${name}?`)} ${schemaText(field, depth + 1)}`,
  )
  return `{ ${texts.join('; ')} }`
}

function rangeText(schema: JsonSchema, of: 'Length' | 'Items', unit: string): string {
  const [least, most] = [numberOf(schema[`min${of}`]), numberOf(schema[`max${of}`])]
  if (most !== undefined)
    return `, ${least === undefined ? 'at most ' : `${least} to `}${most}${unit}`
  return least === undefined ? '' : `, at least ${least}${unit}`
}

function numbersText({ minimum, maximum }: JsonSchema): string {
  const [least, most] = [numberOf(minimum), numberOf(maximum)]
  if (most !== undefined) return least === undefined ? `, at most ${most}` : `, ${least} to ${most}`
  return least === undefined ? '' : `, at least ${least}`
}

const code = (text: string): string => `\`${text}\``
const textOf = (value: unknown, before: string): string =>
  typeof value === 'string' ? `${before}${value}` : ''
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined
const objectOf = (value: unknown): JsonSchema =>
  typeof value === 'object' && value !== null ? (value as JsonSchema) : {}
const listOf = (value: unknown): readonly JsonSchema[] =>
  Array.isArray(value) ? value.map(objectOf) : []
