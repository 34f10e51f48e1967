import { isJsonObject, type JsonObject } from '#base/json-object.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import {
  type Attributes,
  type AttributeValue,
  type Item,
  type SetType,
  type SetValue,
  setOf,
} from './attribute-value.ts'
import { isCanonicalBase64 } from './base64.ts'
import { checkAttributeName, checkLevel } from './limits.ts'
import { mapFields } from './map-fields.ts'
import { isMarkerName, MARKERS } from './markers.ts'
import { canonicalNumber } from './number.ts'

const INVALID = 'One or more parameter values were invalid: '
const EMPTY = {
  SS: `${INVALID}An string set  may not be empty`,
  NS: `${INVALID}An number set  may not be empty`,
  BS: `${INVALID}Binary sets should not be empty`,
} as const satisfies Record<SetType, string>

/**
 * Reads a value in the product's JSON form: strings, numbers, booleans, null, lists and maps stand for
 * themselves, everything else has a marker (see `markers.ts`).
 */
export function readPlainValue(input: unknown, level = 1): AttributeValue {
  checkLevel(level)
  if (input === null) return { NULL: true }
  if (Array.isArray(input)) return { L: input.map((each) => readPlainValue(each, level + 1)) }
  if (typeof input === 'string') return { S: input }
  if (typeof input === 'number') return { N: numberOf(input) }
  if (typeof input === 'boolean') return { BOOL: input }
  if (isJsonObject(input)) return readObject(input, level)
  throw validationError(`A value of type "${typeof input}" cannot be stored in an item`)
}

/** Reads an item or a key. Its own attribute names are never markers. */
export function readPlainItem(input: unknown): Item {
  return readAttributes(objectOf(input, 'An item must be a JSON object'), 1)
}

function readObject(fields: JsonObject, level: number): AttributeValue {
  const [marker, second] = Object.keys(fields)
  if (marker === undefined || second !== undefined || !isMarkerName(marker)) {
    return { M: readAttributes(fields, level + 1) }
  }
  const content = fields[marker]
  switch (marker) {
    case MARKERS.number:
      return { N: canonicalNumber(contentText(marker, content)) }
    case MARKERS.binary:
      return { B: base64Of(content) }
    case MARKERS.set:
      return readSet(content, level)
    case MARKERS.map:
      return { M: readAttributes(objectOf(content, misused(marker, 'an object')), level + 1) }
    default:
      return marker satisfies never
  }
}

function readAttributes(fields: JsonObject, level: number): Attributes {
  for (const name of Object.keys(fields)) checkAttributeName(name)
  return mapFields(fields, (value) => readPlainValue(value, level))
}

function readSet(content: unknown, level: number): AttributeValue {
  if (!Array.isArray(content)) throw validationError(misused(MARKERS.set, 'a list'))
  const members = content.map((each) => readPlainValue(each, level + 1))
  const strings = members.flatMap((each) => ('S' in each ? [each.S] : []))
  const numbers = members.flatMap((each) => ('N' in each ? [each.N] : []))
  const binaries = members.flatMap((each) => ('B' in each ? [each.B] : []))
  if (strings.length === members.length) return checkedSet('SS', strings)
  if (numbers.length === members.length) return checkedSet('NS', numbers)
  if (binaries.length === members.length) return checkedSet('BS', binaries)
  throw validationError(misused(MARKERS.set, 'strings only, numbers only, or binaries only'))
}

/** Digits that a double cannot hold are lost before we see them, so such a number is refused. */
function numberOf(input: number): string {
  if (!Number.isFinite(input))
    throw validationError(`The number ${input} cannot be stored in an item`)
  if (Number.isInteger(input) && !Number.isSafeInteger(input)) {
    throw validationError(
      `The number ${input} is beyond 2^53 and may have lost digits: write { "$number": "…" } with its digits`,
    )
  }
  const text = String(input)
  // Without an exponent the shortest digits of a double are the canonical ones.
  return text.includes('e') ? canonicalNumber(text) : text
}

function base64Of(content: unknown): string {
  const text = contentText(MARKERS.binary, content)
  if (isCanonicalBase64(text)) return text
  throw validationError(misused(MARKERS.binary, 'padded base64'))
}

function contentText(marker: string, content: unknown): string {
  if (typeof content === 'string') return content
  throw validationError(misused(marker, 'a string'))
}

function objectOf(input: unknown, message: string): JsonObject {
  if (isJsonObject(input)) return input
  throw validationError(message)
}

const misused = (marker: string, what: string): string =>
  `"${marker}" must hold ${what}; a map with that one key is written { "${MARKERS.map}": { … } }`

/** A set of canonical members, which has at least one, and none twice. */
export function checkedSet(type: SetType, members: readonly string[]): SetValue {
  if (members.length === 0) throw validationError(EMPTY[type])
  if (new Set(members).size < members.length) throw validationError(duplicates(type, members))
  return setOf(type, members)
}

function duplicates(type: SetType, members: readonly string[]): string {
  const listed = `${INVALID}Input collection [${members.join(', ')}]`
  switch (type) {
    case 'SS':
      return `${listed} contains duplicates.`
    case 'BS':
      return `${listed}of type BS contains duplicates.`
    case 'NS':
      return 'Input collection contains duplicates'
    default:
      return type satisfies never
  }
}
