import type { Static, TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'

import { AppError, type FieldFault } from '#base/app-error.ts'

import { isStorable } from './storable-text.ts'

const MAX_FAULTS = 20

const WORDS: ReadonlyMap<ValueErrorType, string> = new Map([
  [ValueErrorType.ObjectRequiredProperty, 'is required'],
  [ValueErrorType.ObjectAdditionalProperties, 'is not a known field'],
  [ValueErrorType.ArrayUniqueItems, 'must not name anything twice'],
])
const CHOICES: readonly ValueErrorType[] = [ValueErrorType.Union, ValueErrorType.Literal]

/** Gives `value` the type of `schema`, or throws a `ValidationError` that names each wrong field. `at` is the field that holds it. */
export function parseShape<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  at = '',
): Static<Schema> {
  const faults = shapeFaults(schema, value, at)
  if (faults.length === 0) faults.push(...textFaults(value, at))
  if (faults.length > 0) throw invalidFields(faults)
  return value as Static<Schema>
}

/** A `ValidationError` whose message is its first fault. */
export function invalidFields(faults: readonly FieldFault[]): AppError {
  const [first] = faults
  const message = first ? `${first.field}: ${first.message}` : 'The request is not valid'
  return new AppError('ValidationError', message, { details: faults })
}

function shapeFaults(schema: TSchema, value: unknown, at: string): FieldFault[] {
  const byField = new Map<string, string>()
  for (const error of Value.Errors(schema, value)) {
    const field = fieldName(at, error.path)
    // The first fault of a field says it best; those after it follow from it.
    if (!byField.has(field)) byField.set(field, wording(error))
    if (byField.size >= MAX_FAULTS) break
  }
  return [...byField].map(([field, message]) => ({ field, message }))
}

/** The schema bounded the value's size and depth before this walks it. */
function textFaults(value: unknown, at: string): FieldFault[] {
  if (typeof value === 'string') {
    const message = 'holds a NUL character or half a surrogate pair'
    return isStorable(value) ? [] : [{ field: at === '' ? 'body' : at, message }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    textFaults(item, Array.isArray(value) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`),
  )
}

/** `/partitionKey/type` of `config` → `config.partitionKey.type`; `/0` → `[0]`. */
function fieldName(at: string, pointer: string): string {
  let name = at
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100)
    if (/^\d+$/.test(key)) name += `[${key}]`
    else name += name === '' ? key : `.${key}`
  }
  return name === '' ? 'body' : name
}

function wording(error: ValueError): string {
  const { schema } = error
  if (typeof schema['fault'] === 'string' && error.value !== undefined) return schema['fault']
  const words = WORDS.get(error.type)
  if (words !== undefined) return words
  if (CHOICES.includes(error.type)) return `must be ${choices(schema)}`
  return error.message.charAt(0).toLowerCase() + error.message.slice(1)
}

function choices(schema: TSchema): string {
  const options: readonly TSchema[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
  const words = options.map((option) =>
    option['const'] === undefined ? String(option['type']) : `"${String(option['const'])}"`,
  )
  return words.length === 1 ? words.join('') : `one of ${words.join(', ')}`
}
