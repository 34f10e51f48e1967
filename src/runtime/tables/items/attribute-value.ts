export type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'M' | 'L' | 'SS' | 'NS' | 'BS'

type StringValue = { readonly S: string }
/** Canonical decimal text: no exponent, no leading or trailing zeros (`canonicalNumber`). */
type NumberValue = { readonly N: string }
/** Canonical base64. */
type BinaryValue = { readonly B: string }
type MapValue = { readonly M: Attributes }
type ListValue = { readonly L: readonly AttributeValue[] }
export type SetValue =
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
/** The types that can be keys and that have an order. */
type ScalarValue = StringValue | NumberValue | BinaryValue

/** A value in the shape that DynamoDB sends it, checked and in canonical form. */
export type AttributeValue =
  | ScalarValue
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | MapValue
  | ListValue
  | SetValue

export type Attributes = Readonly<Record<string, AttributeValue>>
export type Item = Attributes

/** In the order in which DynamoDB checks them where a value has several. */
export const ATTRIBUTE_TYPES = [
  'S',
  'N',
  'B',
  'NULL',
  'BOOL',
  'BS',
  'NS',
  'SS',
  'L',
  'M',
] as const satisfies readonly AttributeType[]

export function typeOf(value: AttributeValue): AttributeType {
  for (const type of ATTRIBUTE_TYPES) if (type in value) return type
  throw new TypeError('An attribute value without a type')
}

/** Never reads what an object inherits: `constructor` is an attribute name like any other. */
export const attributeOf = (attributes: Attributes, name: string): AttributeValue | undefined =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined

/** The members of a set of any type, or undefined when the value is not a set. */
export function membersOf(value: AttributeValue): readonly string[] | undefined {
  if ('SS' in value) return value.SS
  if ('NS' in value) return value.NS
  return 'BS' in value ? value.BS : undefined
}

export type SetType = 'SS' | 'NS' | 'BS'

export function setOf(type: SetType, members: readonly string[]): SetValue {
  if (type === 'SS') return { SS: members }
  return type === 'NS' ? { NS: members } : { BS: members }
}
