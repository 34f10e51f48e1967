import { type Attributes, type AttributeValue, type Item, membersOf } from './attribute-value.ts'
import { mapFields } from './map-fields.ts'
import { isMarkerName, MARKERS } from './markers.ts'
import { canonicalNumber } from './number.ts'

export type PlainValue =
  | null
  | boolean
  | number
  | string
  | readonly PlainValue[]
  | { readonly [name: string]: PlainValue }
export type PlainItem = Readonly<Record<string, PlainValue>>

/** Writes an item in the product's JSON form: `readPlainItem` reads back exactly the same. */
export const plainItem = (item: Item): PlainItem => plainAttributes(item)

export function plainValue(value: AttributeValue): PlainValue {
  if ('S' in value) return value.S
  if ('N' in value) return plainNumber(value.N)
  if ('B' in value) return { [MARKERS.binary]: value.B }
  if ('BOOL' in value) return value.BOOL
  if ('NULL' in value) return null
  if ('L' in value) return value.L.map(plainValue)
  return 'M' in value ? plainMap(value.M) : plainSet(value)
}

function plainMap(attributes: Attributes): PlainValue {
  const [name, second] = Object.keys(attributes)
  const plain = plainAttributes(attributes)
  const mistakable = name !== undefined && second === undefined && isMarkerName(name)
  return mistakable ? { [MARKERS.map]: plain } : plain
}

function plainSet(value: AttributeValue): PlainValue {
  const members = membersOf(value) ?? []
  if ('NS' in value) return { [MARKERS.set]: members.map(plainNumber) }
  if ('BS' in value) {
    return { [MARKERS.set]: members.map((member) => ({ [MARKERS.binary]: member })) }
  }
  return { [MARKERS.set]: members }
}

/** A JSON number wherever a double has the very same digits, and is within 2^53 if it is whole; else its digits as text. */
function plainNumber(canonical: string): PlainValue {
  const number = Number(canonical)
  const safe = !Number.isInteger(number) || Number.isSafeInteger(number)
  return safe && isExact(number, canonical) ? number : { [MARKERS.number]: canonical }
}

function isExact(number: number, canonical: string): boolean {
  const text = String(number)
  return text === canonical || (text.includes('e') && canonicalNumber(text) === canonical)
}

const plainAttributes = (attributes: Attributes): PlainItem => mapFields(attributes, plainValue)
