import { Buffer } from 'node:buffer'

import {
  ATTRIBUTE_VALUE,
  type Fields,
  type ScalarKind,
  type Shape,
  type StructPlace,
} from './shape.ts'
import { serializationFault, type WireError } from './wire-error.ts'

export type Body = Readonly<Record<string, unknown>>

const STRUCTURE_UNEXPECTED = 'Start of structure or map found where not expected'
const FIELD_UNEXPECTED = 'Unexpected field type'
const NOT_A_CLASS =
  'class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class ' +
  '(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader ' +
  "'bootstrap')"
const NO_BYTES = 'only base-64-encoded strings are convertible to bytes'
const DYNAMO_TYPES = 'com.amazonaws.dynamodb.v20120810.'
const TRUE_TEXTS = ['TRUE', '1', 'YES']
const FALSE_TEXTS = ['FALSE', '0', 'NO']

/** The fields that an action knows, each of its JSON type; fields that are null or unknown are left out. */
export function readFields(input: object, fields: Fields): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(fields)) {
    const given: unknown = Object.hasOwn(input, name) ? Reflect.get(input, name) : undefined
    if (given !== undefined && given !== null) found[name] = read(given, shape)
  }
  return found
}

function read(input: unknown, shape: Shape): unknown {
  if (shape.kind === 'List') return readList(input, shape)
  if (shape.kind === 'Map') return readMap(input, shape)
  if (shape.kind === 'Struct') return readStruct(input, shape)
  if (shape.kind !== 'Value') return SCALARS[shape.kind](input)
  return readStruct(input, { place: shape.place, of: 'AttributeValue', fields: ATTRIBUTE_VALUE })
}

function readList(input: unknown, shape: Extract<Shape, { kind: 'List' }>): unknown[] {
  if (Array.isArray(input)) {
    return input.map((each: unknown) => (each === null ? null : read(each, shape.member)))
  }
  if (typeof input === 'object') throw serializationFault(STRUCTURE_UNEXPECTED)
  throw serializationFault(shape.parameterized ? NOT_A_CLASS : FIELD_UNEXPECTED)
}

function readMap(input: unknown, shape: Extract<Shape, { kind: 'Map' }>): Record<string, unknown> {
  if (Array.isArray(input)) {
    const type = shape.of.includes('.') ? shape.of : DYNAMO_TYPES + shape.of
    throw serializationFault(
      `Unrecognized collection type java.util.Map<java.lang.String, ${type}>`,
    )
  }
  if (typeof input !== 'object' || input === null) {
    throw serializationFault(shape.parameterized ? NOT_A_CLASS : FIELD_UNEXPECTED)
  }
  return Object.fromEntries(
    Object.entries(input).map(([name, each]) => [
      name,
      each === null || each === undefined ? {} : read(each, shape.member),
    ]),
  )
}

interface Structure {
  readonly place: StructPlace
  readonly of: string
  readonly fields: Fields
}

function readStruct(input: unknown, { place, of, fields }: Structure): Record<string, unknown> {
  if (Array.isArray(input)) {
    throw serializationFault(`Unrecognized collection type class ${DYNAMO_TYPES}${of}`)
  }
  if (typeof input === 'object' && input !== null) return readFields(input, fields)
  throw serializationFault(
    place === 'value' ? 'Unexpected value type in payload' : FIELD_UNEXPECTED,
  )
}

const SCALARS: Readonly<Record<ScalarKind, (input: unknown) => unknown>> = {
  String(input) {
    if (typeof input === 'string') return input
    throw typeof input === 'object' ? notScalar(input, 'java.lang.String') : unlike(input, 'String')
  },
  Integer: (input) => wholeNumber(input, 'Integer'),
  Long: (input) => wholeNumber(input, 'Long'),
  Boolean(input) {
    if (typeof input === 'boolean') return input
    if (typeof input === 'object') throw notScalar(input, 'java.lang.Boolean')
    if (typeof input !== 'string') throw unlike(input, 'Boolean')
    const word = input.toUpperCase()
    if (TRUE_TEXTS.includes(word)) return true
    if (FALSE_TEXTS.includes(word)) return false
    throw serializationFault('Unexpected token received from parser')
  },
  Blob(input) {
    if (typeof input === 'object') throw notScalar(input, 'java.nio.ByteBuffer')
    if (typeof input !== 'string') throw serializationFault(NO_BYTES)
    if (input.length % 4 !== 0) {
      throw serializationFault(
        `Base64 encoded length is expected a multiple of 4 bytes but found: ${input.length}`,
      )
    }
    if (Buffer.from(input, 'base64').toString('base64') === input) return input
    throw serializationFault('Invalid last non-pad Base64 character dectected')
  },
}

function wholeNumber(input: unknown, kind: 'Integer' | 'Long'): number {
  if (typeof input === 'number') return Math.floor(input)
  throw typeof input === 'object' ? notScalar(input, `java.lang.${kind}`) : unlike(input, kind)
}

const notScalar = (input: unknown, javaType: string): WireError =>
  serializationFault(
    Array.isArray(input) ? `Unrecognized collection type class ${javaType}` : STRUCTURE_UNEXPECTED,
  )

function unlike(input: unknown, kind: ScalarKind): WireError {
  return serializationFault(`${tokenOf(input)} cannot be converted to ${kind}`)
}

function tokenOf(input: unknown): string {
  if (typeof input === 'boolean') return input ? 'TRUE_VALUE' : 'FALSE_VALUE'
  if (typeof input === 'string') return 'STRING_VALUE'
  return Number.isInteger(input) ? 'NUMBER_VALUE' : 'DECIMAL_VALUE'
}
