/** A JSON Schema of 2020-12, as the OpenAPI document has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

interface FieldBase {
  /** With the names of the objects around it: `schedule.cron`. */
  readonly name: string
  readonly label: string
  /** What the API says about it. */
  readonly hint: string | undefined
  readonly isRequired: boolean
  /** Whether an empty field is sent as null. */
  readonly isNullable: boolean
}

export type SchemaField = FieldBase &
  (
    | {
        readonly kind: 'text'
        readonly maxLength?: number
        readonly pattern?: string
        readonly format?: string
      }
    | {
        readonly kind: 'number'
        readonly min?: number
        readonly max?: number
        readonly step: number | 'any'
      }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly choices: readonly string[] }
    /** A text of several lines, one item on each. */
    | { readonly kind: 'lines' }
    | { readonly kind: 'group'; readonly fields: readonly SchemaField[] }
    /** What no other kind shows. */
    | { readonly kind: 'json' }
  )

/** What a form holds of each field, by name. Groups have no value of their own. */
export type FieldValues = Readonly<Record<string, string | boolean>>

/** The fields of a request's body. A setting that a route gains later is a field without further code. */
export function fieldsOf(
  schema: JsonSchema,
  document: JsonSchema,
  within = '',
): readonly SchemaField[] {
  const { properties, required } = resolved(schema, document)
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(Object(properties)).map(([property, of]) =>
    fieldOf({ ...Object(of) }, document, {
      name: within + property,
      label: labelOf(property),
      isRequired: needed.includes(property),
    }),
  )
}

/** `trashRetentionDays` is "Trash retention days". */
export function labelOf(property: string): string {
  const words = property
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The values of a form that shows `body`. */
export function valuesOf(fields: readonly SchemaField[], body: unknown): FieldValues {
  const values: Record<string, string | boolean> = {}
  for (const field of fields) {
    const value = at(body, field.name)
    if (field.kind === 'group') Object.assign(values, valuesOf(field.fields, body))
    else values[field.name] = shownValue(field, value)
  }
  return values
}

/** The body that the values of a form are. Throws for a field that is no JSON. */
export function bodyOf(
  fields: readonly SchemaField[],
  values: FieldValues,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const value =
      field.kind === 'group'
        ? groupValue(field.fields, values)
        : sentValue(field, values[field.name])
    if (value !== undefined) body[lastOf(field.name)] = value
  }
  return body
}

type About = Pick<FieldBase, 'name' | 'label' | 'isRequired'>

function fieldOf(schema: JsonSchema, document: JsonSchema, about: About): SchemaField {
  const { plain, isNullable } = withoutNull(resolved(schema, document), document)
  const base = { ...about, hint: hintOf(schema) ?? hintOf(plain), isNullable }
  if (Array.isArray(plain['enum'])) {
    return { ...base, kind: 'choice', choices: plain['enum'].map(String) }
  }
  switch (plain['type']) {
    case 'string':
      return {
        ...base,
        kind: 'text',
        ...limits(plain, { maxLength: 'number', pattern: 'string', format: 'string' }),
      }
    case 'integer':
    case 'number':
      return numberField(base, plain)
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'array':
      return { ...base, kind: isOfTexts(plain, document) ? 'lines' : 'json' }
    case 'object':
      return objectField(base, plain, document)
    default:
      return { ...base, kind: 'json' }
  }
}

const hintOf = ({ description }: JsonSchema): string | undefined =>
  typeof description === 'string' ? description : undefined

const isOfTexts = ({ items }: JsonSchema, document: JsonSchema): boolean =>
  resolved({ ...Object(items) }, document)['type'] === 'string'

const objectField = (base: FieldBase, schema: JsonSchema, document: JsonSchema): SchemaField =>
  schema['properties'] === undefined
    ? { ...base, kind: 'json' }
    : { ...base, kind: 'group', fields: fieldsOf(schema, document, `${base.name}.`) }

function numberField(base: FieldBase, schema: JsonSchema): SchemaField {
  const { minimum: min, maximum: max } = limits(schema, { minimum: 'number', maximum: 'number' })
  return {
    ...base,
    kind: 'number',
    step: schema['type'] === 'integer' ? 1 : 'any',
    ...(typeof min === 'number' && { min }),
    ...(typeof max === 'number' && { max }),
  }
}

/** The keywords that are there, of the type that they should have. */
function limits<Name extends string>(
  schema: JsonSchema,
  types: Readonly<Record<Name, 'string' | 'number'>>,
): Record<string, never> {
  const found = Object.entries(types).filter(([name, type]) => typeof schema[name] === type)
  return Object.fromEntries(found.map(([name]) => [name, schema[name]])) as Record<string, never>
}

/** The schema behind a reference within the document. */
function resolved(schema: JsonSchema, document: JsonSchema): JsonSchema {
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== 'string') return schema
  const target = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((value, name) => Reflect.get(Object(value), name), document)
  return { ...Object(target), ...rest }
}

/** `anyOf: [X, null]` is X that may be null. */
function withoutNull(
  schema: JsonSchema,
  document: JsonSchema,
): { readonly plain: JsonSchema; readonly isNullable: boolean } {
  const { anyOf } = schema
  if (!Array.isArray(anyOf)) return { plain: schema, isNullable: false }
  const others = anyOf.filter((option: unknown) => Reflect.get(Object(option), 'type') !== 'null')
  const [only] = others
  const isNullable = others.length < anyOf.length
  const plain = others.length === 1 ? resolved({ ...Object(only) }, document) : schema
  return { plain, isNullable }
}

const at = (body: unknown, name: string): unknown =>
  name.split('.').reduce<unknown>((value, part) => Reflect.get(Object(value), part), body)

const lastOf = (name: string): string => name.split('.').at(-1) ?? name

function shownValue(field: SchemaField, value: unknown): string | boolean {
  if (field.kind === 'boolean') return value === true
  if (value === undefined || value === null) return ''
  if (field.kind === 'lines') return Array.isArray(value) ? value.join('\n') : ''
  return typeof value === 'string' && field.kind !== 'json' ? value : JSON.stringify(value, null, 2)
}

/** Undefined for what is left out. */
function sentValue(field: SchemaField, value: string | boolean | undefined): unknown {
  if (typeof value === 'boolean' || value === undefined) return value
  if (field.kind === 'lines') return linesOf(value)
  if (value.trim() === '' && (field.isNullable || !field.isRequired))
    return field.isNullable ? null : undefined
  if (field.kind === 'number') return Number(value)
  return field.kind === 'json' ? JSON.parse(value) : value
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function groupValue(fields: readonly SchemaField[], values: FieldValues): object | undefined {
  const value = bodyOf(fields, values)
  return Object.keys(value).length === 0 ? undefined : value
}
