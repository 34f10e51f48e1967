/** What DynamoDB checks of a field before it looks at what the field means; in the order of these names. */
export interface Rules {
  /** Refused on its own when it is missing, before all other rules. */
  readonly required?: true
  readonly notNull?: true
  readonly oneOf?: readonly string[]
  readonly pattern?: string
  /** The resource name of a table will do in its place. */
  readonly orArn?: true
  /** Is shown as Java shows it, not as JSON. */
  readonly javaText?: true
  readonly minLength?: number
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly keys?: Bounds & { readonly pattern: string; readonly orArn?: true }
  readonly values?: Bounds
}

interface Bounds {
  readonly minLength: number
  readonly maxLength: number
}

export type ScalarKind = 'String' | 'Boolean' | 'Integer' | 'Long' | 'Blob'
/** The place of a structure decides how DynamoDB words that something else was sent. */
export type StructPlace = 'field' | 'value'

export type Shape = Rules &
  (
    | { readonly kind: ScalarKind }
    | { readonly kind: 'List'; readonly member: Shape; readonly parameterized?: true }
    | {
        readonly kind: 'Map'
        readonly member: Shape
        /** The Java type of the values. */
        readonly of: string
        readonly parameterized?: true
      }
    | { readonly kind: 'Value'; readonly place: StructPlace }
    | {
        readonly kind: 'Struct'
        readonly place: StructPlace
        readonly of: string
        readonly fields: Fields
      }
  )
export type Fields = Readonly<Record<string, Shape>>

export const text = (rules: Rules = {}): Shape => ({ kind: 'String', ...rules })
export const flag: Shape = { kind: 'Boolean' }
export const integer = (rules: Rules = {}): Shape => ({ kind: 'Integer', ...rules })
export const long = (rules: Rules = {}): Shape => ({ kind: 'Long', ...rules })
export const choice = (...oneOf: readonly string[]): Shape => ({ kind: 'String', oneOf })
export const list = (member: Shape, rules: Rules = {}): Shape => ({
  kind: 'List',
  member,
  ...rules,
})
export const map = (member: Shape, of: string, rules: Rules = {}): Shape => ({
  kind: 'Map',
  member,
  of,
  ...rules,
})
export const struct = (
  place: StructPlace,
  of: string,
  fields: Fields,
  rules: Rules = {},
): Shape => ({ kind: 'Struct', place, of, fields, ...rules })

/** An attribute value where a list or map holds it, and where a field does. */
export const value: Shape = { kind: 'Value', place: 'value' }
export const fieldValue: Shape = { kind: 'Value', place: 'field' }
export const values = (rules: Rules = {}): Shape => map(value, 'AttributeValue', rules)

export const ATTRIBUTE_VALUE: Fields = {
  S: text(),
  B: { kind: 'Blob' },
  N: text(),
  BOOL: flag,
  NULL: flag,
  BS: list({ kind: 'Blob' }),
  NS: list(text()),
  SS: list(text()),
  L: list(value),
  M: values(),
}
