import { invalid } from '#base/app-error.ts'
import { didYouMean } from '#config/did-you-mean.ts'

import { type Fields, REFUSED_FIELDS } from './action-fields.ts'
import { type FieldRule, isObject } from './field-rules.ts'

/** A request whose fields have their camelCase names; what was null is left out. */
export type RequestFields = Readonly<Record<string, unknown>>

/** Longest part of a stranger's field name that an error repeats. */
const SHOWN_NAME = 64

/**
 * Reads an object whose fields are named in camelCase or PascalCase. A field twice, an unknown one, one of a wrong shape
 * and a missing one are `ValidationError`s that name it; `at` is where the object stands, such as `actions[2].put`.
 */
export function readFields(fields: Fields, input: unknown, at = ''): RequestFields {
  if (!isObject(input)) throw invalid(at === '' ? 'body' : at, 'must be a JSON object')
  const rules = rulesOf(fields)
  const found = new Map<string, unknown>()
  for (const [sent, value] of Object.entries(input)) {
    const [name, field] = [camelCase(sent), place(at, sent)]
    const rule = rules.get(name)
    if (rule === undefined) throw unknownField(field, name, [...rules.keys()])
    // As in DynamoDB, null is the same as nothing.
    if ((value ?? null) === null) continue
    if (found.has(name)) throw sentTwice(field, name)
    check(rule, value, field)
    found.set(name, value)
  }
  const missing = Object.keys(fields.required).find((name) => !found.has(name))
  if (missing !== undefined) throw invalid(place(at, missing), 'is required')
  return Object.fromEntries(found)
}

/** The rules of a set of fields, which are constants. */
const RULES = new WeakMap<Fields, ReadonlyMap<string, FieldRule>>()

function rulesOf(fields: Fields): ReadonlyMap<string, FieldRule> {
  const known = RULES.get(fields)
  if (known !== undefined) return known
  const rules = new Map(Object.entries({ ...fields.required, ...fields.optional }))
  RULES.set(fields, rules)
  return rules
}

/** The names with which the engine and DynamoDB know the same fields. */
export const pascalFields = (fields: RequestFields): RequestFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [pascalCase(name), value]))

export const camelCase = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const place = (at: string, name: string): string => {
  const shown = name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}…` : name
  return at === '' ? shown : `${at}.${shown}`
}

function check(rule: FieldRule, value: unknown, field: string): void {
  const fault = rule(value)
  if (fault !== undefined) throw invalid(field, fault)
}

const sentTwice = (field: string, name: string): Error =>
  invalid(field, `"${name}" and "${pascalCase(name)}" are the same field: send one`)

function unknownField(field: string, name: string, known: readonly string[]): Error {
  const refused = REFUSED_FIELDS.get(name)
  if (refused !== undefined) return invalid(field, refused)
  const meant = didYouMean(name, known)
  return invalid(
    field,
    meant === undefined
      ? `is not a field here; the fields are ${known.map((each) => `"${each}"`).join(', ')}`
      : `is not a field here: did you mean "${meant}"?`,
  )
}
