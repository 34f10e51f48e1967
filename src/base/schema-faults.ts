import type { TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/value'

import type { FieldFault } from './app-error.ts'

const MAX_FAULTS = 20
const MAX_KEY_LENGTH = 100

const WORDS: ReadonlyMap<ValueErrorType, string> = new Map([
  [ValueErrorType.ObjectRequiredProperty, 'is required'],
  [ValueErrorType.ObjectAdditionalProperties, 'is not a known field'],
  [ValueErrorType.ArrayUniqueItems, 'must not name anything twice'],
])
/** An error after one of these concerns more than any request may send, and takes as long to report. */
const ENDS: readonly ValueErrorType[] = [
  ValueErrorType.ArrayMaxItems,
  ValueErrorType.ObjectMaxProperties,
]
const CHOICES: readonly ValueErrorType[] = [ValueErrorType.Union, ValueErrorType.Literal]

type ShapeError = Pick<ValueError, 'type' | 'schema' | 'path' | 'value' | 'message'>

/**
 * The errors of a value that does not match a schema, one a field, in words for its sender. A schema may say its own words in
 * `fault`. `at` is the field that holds the whole.
 */
export function schemaFaults(errors: Iterable<ShapeError>, at = ''): FieldFault[] {
  const byField = new Map<string, string>()
  for (const error of errors) {
    const field = fieldName(at, error.path)
    // The first fault of a field says it best; those after it follow from it.
    if (!byField.has(field)) byField.set(field, wording(error))
    if (byField.size >= MAX_FAULTS || ENDS.includes(error.type)) break
  }
  return [...byField].map(([field, message]) => ({ field, message }))
}

/** `/partitionKey/type` of `config` → `config.partitionKey.type`; `/0` → `[0]`. */
function fieldName(at: string, pointer: string): string {
  let name = at
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, MAX_KEY_LENGTH)
    if (/^\d+$/.test(key)) name += `[${key}]`
    else name += name === '' ? key : `.${key}`
  }
  return name === '' ? 'body' : name
}

function wording(error: ShapeError): string {
  const { schema } = error
  if (typeof schema['fault'] === 'string' && error.value !== undefined) return schema['fault']
  const words = WORDS.get(error.type)
  if (words !== undefined) return words
  if (CHOICES.includes(error.type)) return orNullFault(schema) ?? `must be ${choices(schema)}`
  return error.message.charAt(0).toLowerCase() + error.message.slice(1)
}

/** Of what may be null, too: the words of what it is else. */
function orNullFault({ anyOf }: TSchema): string | undefined {
  const options: readonly TSchema[] = Array.isArray(anyOf) ? anyOf : []
  const [only, ...others] = options.filter(({ type }) => type !== 'null')
  const fault: unknown = others.length === 0 ? only?.['fault'] : undefined
  return typeof fault === 'string' ? fault : undefined
}

function choices(schema: TSchema): string {
  const options: readonly TSchema[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
  const words = options.map((option) =>
    option['const'] === undefined ? String(option['type']) : `"${String(option['const'])}"`,
  )
  return words.length === 1 ? words.join('') : `one of ${words.join(', ')}`
}
