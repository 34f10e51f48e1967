import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, type FieldFault } from '#base/app-error.ts'
import { schemaFaults } from '#base/schema-faults.ts'
import { isStorable } from '#base/storable-text.ts'

/** The name of a resource, operation or job. */
export const SiteName = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
  fault: 'must start with a letter, then up to 63 letters, digits, "-" or "_"',
})

/** Gives `value` the type of `schema`, or throws a `ValidationError` that names each wrong field. `at` is the field that holds it. */
export function parseShape<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  at = '',
): Static<Schema> {
  const faults = schemaFaults(Value.Errors(schema, value), at)
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

/** An error with the faults of its fields rewritten; one without such faults as it is. */
export function mapFaults(error: unknown, rewrite: (fault: FieldFault) => FieldFault): unknown {
  return error instanceof AppError && error.details
    ? invalidFields(error.details.map(rewrite))
    : error
}

/** The schema bounded the value's size and depth before this walks it. */
function textFaults(value: unknown, at: string): FieldFault[] {
  if (typeof value === 'string') {
    const message = 'holds a NUL character or half a surrogate pair'
    return isStorable(value) ? [] : [{ field: at === '' ? 'body' : at, message }]
  }
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, key) => textFaults(item, `${at}[${key}]`))
  return Object.entries(value).flatMap(([key, item]) =>
    isStorable(key) ? textFaults(item, at === '' ? key : `${at}.${key}`) : textFaults(key, at),
  )
}
