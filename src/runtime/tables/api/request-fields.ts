import { invalid } from '#base/app-error.ts'
import { didYouMean } from '#base/did-you-mean.ts'
import { isJsonObject, type JsonObject } from '#base/json-object.ts'

import { REFUSED_FIELDS } from './action-fields.ts'
import { type FieldRule } from './field-rules.ts'

/** The fields that a request may have, by their camelCase names. */
export interface FieldRules {
  readonly required: Readonly<Record<string, FieldRule>>
  readonly optional: Readonly<Record<string, FieldRule>>
}

/** A request whose fields have their camelCase names; what was null is left out. */
export type RequestFields = JsonObject

/** What `readRequestFields` makes of a request: each field as its rule accepts it. */
export type FieldsOf<Shape extends FieldRules> = {
  readonly [Name in keyof Shape['required']]: Accepted<Shape['required'][Name]>
} & {
  readonly [Name in keyof Shape['optional']]?: Accepted<Shape['optional'][Name]>
}
type Accepted<Rule> = Rule extends FieldRule<infer Value> ? Value : never

/** Longest part of a stranger's field name that an error repeats. */
const SHOWN_NAME = 64

/**
 * Reads an object whose fields are named in camelCase or PascalCase. A field twice, an unknown one, one of a wrong shape and a
 * missing one are `ValidationError`s that name it; `at` is the path of the object, such as `actions[2].put`.
 */
export function readRequestFields<Shape extends FieldRules>(
  fields: Shape,
  input: unknown,
  at = '',
): FieldsOf<Shape> {
  if (!isJsonObject(input)) throw invalid(at === '' ? 'body' : at, 'must be a JSON object')
  const { rules, required } = knownFields(fields)
  const found: Record<string, unknown> = {}
  for (const sent of Object.keys(input)) {
    const [name, value] = [camelCase(sent), input[sent]]
    const rule = rules.get(name)
    if (rule === undefined) throw unknownField(pathTo(at, sent), name, [...rules.keys()])
    // As in DynamoDB, null is the same as nothing.
    if (value === null || value === undefined) continue
    const fault = faultOf(value, rule, { name, found })
    if (fault !== undefined) throw invalid(pathTo(at, sent), fault)
    found[name] = value
  }
  const missing = required.find((name) => !Object.hasOwn(found, name))
  if (missing !== undefined) throw invalid(pathTo(at, missing), 'is required')
  return found as FieldsOf<Shape>
}

interface KnownFields {
  readonly rules: ReadonlyMap<string, FieldRule>
  readonly required: readonly string[]
}

/** Sets of fields, which are constants, as they are looked up. */
const KNOWN = new WeakMap<FieldRules, KnownFields>()

function knownFields(fields: FieldRules): KnownFields {
  const known = KNOWN.get(fields) ?? {
    rules: new Map(Object.entries({ ...fields.required, ...fields.optional })),
    required: Object.keys(fields.required),
  }
  KNOWN.set(fields, known)
  return known
}

export const camelCase = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const pathTo = (at: string, name: string): string => {
  const shown = name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}…` : name
  return at === '' ? shown : `${at}.${shown}`
}

const faultOf = (
  value: unknown,
  rule: FieldRule,
  { name, found }: { readonly name: string; readonly found: RequestFields },
): string | undefined =>
  Object.hasOwn(found, name)
    ? `"${name}" and "${pascalCase(name)}" are the same field: send one`
    : rule(value)

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
