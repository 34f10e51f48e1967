import { isJsonObject } from '#base/json-object.ts'
import type { CheckedType, CheckedFormat, CheckNode } from '#platform/sandbox-host/sandbox.ts'

import { MAX_PATTERN_LENGTH } from './json-schema.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
/** Lists in a schema: of `enum`, `required` and the like. */
const MAX_LIST = 1000

const TYPES = {
  null: true,
  boolean: true,
  integer: true,
  number: true,
  string: true,
  array: true,
  object: true,
} as const satisfies Record<CheckedType, true>

const FORMATS = {
  date: true,
  'date-time': true,
  email: true,
  time: true,
  uri: true,
  uuid: true,
} as const satisfies Record<CheckedFormat, true>

export type DraftNode = { -readonly [Field in keyof CheckNode]: CheckNode[Field] }

/** Where a schema or a value in it is. */
export interface SchemaPlace {
  /** A JSON Pointer, after the name of the field. */
  readonly pointer: string
  readonly depth: number
}

/** A schema that is being read. */
export interface SchemaReading {
  /** Compiles a schema within it. Returns its node. */
  schema(schema: unknown, place: SchemaPlace): number
  refer(node: DraftNode, to: string, at: string): void
  define(name: string, node: number): void
  fault(pointer: string, message: string): void
}

interface KeywordUse extends SchemaPlace {
  readonly reading: SchemaReading
  readonly node: DraftNode
  readonly value: unknown
}

/** Puts a keyword of a schema into its node, or says what is wrong with it. */
type KeywordReader = (use: KeywordUse) => void

type FieldOf<Value> = {
  [Field in keyof CheckNode]-?: CheckNode[Field] extends Value | undefined ? Field : never
}[keyof CheckNode]
type NumberField = Exclude<FieldOf<number>, SchemaField>
type SchemaField =
  | 'items'
  | 'contains'
  | 'additionalProperties'
  | 'propertyNames'
  | 'not'
  | 'if'
  | 'then'
  | 'else'

const annotation = (is: (value: unknown) => boolean, expected: string): KeywordReader =>
  function read({ reading, value, pointer }) {
    if (!is(value)) reading.fault(pointer, expected)
  }

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const areNames = (value: unknown): value is readonly string[] =>
  isList(value) && value.every(isText) && new Set(value).size === value.length

const NUMBER = 'must be a number'
const COUNT = 'must be a whole number from 0'
const NAMES = 'must be an array of strings, each once'

const number = (field: NumberField): KeywordReader =>
  function read({ reading, node, value, pointer }) {
    if (isNumber(value)) node[field] = value
    else reading.fault(pointer, NUMBER)
  }

const count = (field: NumberField): KeywordReader =>
  function read({ reading, node, value, pointer }) {
    if (isCount(value)) node[field] = value
    else reading.fault(pointer, COUNT)
  }

const oneSchema = (field: SchemaField): KeywordReader =>
  function read({ reading, node, value, pointer, depth }) {
    node[field] = reading.schema(value, { pointer, depth: depth + 1 })
  }

/** The nodes of an array of schemas. */
function schemaList({ reading, value, pointer, depth }: KeywordUse): number[] {
  if (isList(value) && value.length > 0)
    return value.map((item, at) =>
      reading.schema(item, { pointer: `${pointer}/${at}`, depth: depth + 1 }),
    )
  reading.fault(pointer, 'must be an array of at least one schema')
  return []
}

/** The nodes of an object of schemas, by name. */
function schemaMap({ reading, value, pointer, depth }: KeywordUse): [string, number][] {
  if (isJsonObject(value))
    return Object.entries(value).map(([name, schema]) => [
      name,
      reading.schema(schema, { pointer: `${pointer}/${escaped(name)}`, depth: depth + 1 }),
    ])
  reading.fault(pointer, 'must be an object of schemas')
  return []
}

function readType({ reading, node, value, pointer }: KeywordUse): void {
  const types = isList(value) ? value : [value]
  const known = types.filter(
    (type): type is CheckedType => isText(type) && Object.hasOwn(TYPES, type),
  )
  if (known.length === types.length && known.length > 0 && areNames(known)) node.type = known
  else reading.fault(pointer, `must be one of ${listed(TYPES)}, or an array of them`)
}

function readEnum({ reading, node, value, pointer }: KeywordUse): void {
  if (!isList(value) || value.length === 0 || value.length > MAX_LIST)
    reading.fault(pointer, `must be an array of 1 to ${MAX_LIST} values`)
  else setValues({ reading, node, pointer }, value)
}

/** Of `const` and `enum` beside each other both hold. */
function setValues(
  { reading, node, pointer }: Pick<KeywordUse, 'reading' | 'node' | 'pointer'>,
  values: readonly unknown[],
): void {
  if (!values.every(isExact)) reading.fault(pointer, 'holds a number that is too large')
  else if (node.enum)
    reading.fault(pointer, 'has no meaning with both "const" and "enum": keep one')
  else node.enum = values
}

const isExact = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}

function readPattern({ reading, node, value, pointer }: KeywordUse): void {
  if (!isText(value)) reading.fault(pointer, 'must be a regular expression')
  else if (isPattern(reading, value, pointer)) node.pattern = value
}

function isPattern(reading: SchemaReading, source: string, pointer: string): boolean {
  if (source.length > MAX_PATTERN_LENGTH) {
    reading.fault(pointer, `is longer than ${MAX_PATTERN_LENGTH} characters`)
    return false
  }
  try {
    // Compiles nothing yet: that is for the isolate to do, within the time of its call.
    void new RegExp(source, 'u')
    return true
  } catch {
    reading.fault(pointer, 'is no regular expression of ECMAScript with the flag "u"')
    return false
  }
}

function readPatternProperties(use: KeywordUse): void {
  const entries = schemaMap(use)
  const areRead = entries.every(([source]) =>
    isPattern(use.reading, source, `${use.pointer}/${escaped(source)}`),
  )
  if (areRead) use.node.patternProperties = entries
}

function readFormat({ reading, node, value, pointer }: KeywordUse): void {
  if (isText(value) && Object.hasOwn(FORMATS, value)) node.format = value as CheckedFormat
  else reading.fault(pointer, `must be one of ${listed(FORMATS)}`)
}

function readRequired({ reading, node, value, pointer }: KeywordUse): void {
  if (areNames(value) && value.length <= MAX_LIST) node.required = value
  else reading.fault(pointer, NAMES)
}

function readDependentRequired({ reading, node, value, pointer }: KeywordUse): void {
  const entries = isJsonObject(value) ? Object.entries(value) : []
  const named = entries.filter((entry): entry is [string, readonly string[]] => areNames(entry[1]))
  if (isJsonObject(value) && named.length === entries.length) node.dependentRequired = named
  else reading.fault(pointer, `must be an object whose values are each ${NAMES.slice(8)}`)
}

function readReference({ reading, node, value, pointer }: KeywordUse): void {
  if (isText(value) && (value === '#' || value.startsWith('#/$defs/')))
    reading.refer(node, value, pointer)
  else reading.fault(pointer, 'must be "#" or "#/$defs/" and a name: other documents are not read')
}

function readDefinitions(use: KeywordUse): void {
  if (use.depth > 0) use.reading.fault(use.pointer, 'must be at the root of the schema')
  else for (const [name, node] of schemaMap(use)) use.reading.define(name, node)
}

function readDialect({ reading, value, pointer, depth }: KeywordUse): void {
  const isKnown = value === DIALECT || value === `${DIALECT}#`
  if (!isKnown || depth > 0) reading.fault(pointer, `must be "${DIALECT}", at the root`)
}

function readMultiple({ reading, node, value, pointer }: KeywordUse): void {
  if (isNumber(value) && value > 0) node.multipleOf = value
  else reading.fault(pointer, 'must be a number more than 0')
}

function readUnique({ reading, node, value, pointer }: KeywordUse): void {
  if (!isFlag(value)) reading.fault(pointer, 'must be true or false')
  else if (value) node.uniqueItems = true
}

/** Where keywords mean nothing alone. */
export const PARTNERS: ReadonlyMap<string, string> = new Map([
  ['then', 'if'],
  ['else', 'if'],
  ['minContains', 'contains'],
  ['maxContains', 'contains'],
])

/** The keywords of JSON Schema 2020-12 that schemas of operations may have. */
export const KEYWORDS: ReadonlyMap<string, KeywordReader> = new Map<string, KeywordReader>([
  ['$schema', readDialect],
  ['$comment', annotation(isText, 'must be a string')],
  ['$defs', readDefinitions],
  ['$ref', readReference],
  ['title', annotation(isText, 'must be a string')],
  ['description', annotation(isText, 'must be a string')],
  ['default', annotation(() => true, '')],
  ['examples', annotation(isList, 'must be an array')],
  ['deprecated', annotation(isFlag, 'must be true or false')],
  ['readOnly', annotation(isFlag, 'must be true or false')],
  ['writeOnly', annotation(isFlag, 'must be true or false')],
  ['type', readType],
  ['enum', readEnum],
  ['const', ({ value, ...use }) => setValues(use, [value])],
  ['multipleOf', readMultiple],
  ['maximum', number('maximum')],
  ['exclusiveMaximum', number('exclusiveMaximum')],
  ['minimum', number('minimum')],
  ['exclusiveMinimum', number('exclusiveMinimum')],
  ['maxLength', count('maxLength')],
  ['minLength', count('minLength')],
  ['pattern', readPattern],
  ['format', readFormat],
  ['prefixItems', (use) => void (use.node.prefixItems = schemaList(use))],
  ['items', oneSchema('items')],
  ['contains', oneSchema('contains')],
  ['minContains', count('minContains')],
  ['maxContains', count('maxContains')],
  ['maxItems', count('maxItems')],
  ['minItems', count('minItems')],
  ['uniqueItems', readUnique],
  ['maxProperties', count('maxProperties')],
  ['minProperties', count('minProperties')],
  ['required', readRequired],
  ['dependentRequired', readDependentRequired],
  ['properties', (use) => void (use.node.properties = schemaMap(use))],
  ['patternProperties', readPatternProperties],
  ['additionalProperties', oneSchema('additionalProperties')],
  ['propertyNames', oneSchema('propertyNames')],
  ['dependentSchemas', (use) => void (use.node.dependentSchemas = schemaMap(use))],
  ['allOf', (use) => void (use.node.all = [...(use.node.all ?? []), ...schemaList(use)])],
  ['anyOf', (use) => void (use.node.anyOf = schemaList(use))],
  ['oneOf', (use) => void (use.node.oneOf = schemaList(use))],
  ['not', oneSchema('not')],
  ['if', oneSchema('if')],
  ['then', oneSchema('then')],
  ['else', oneSchema('else')],
])

/** As a key of a JSON Pointer (RFC 6901, section 3). */
export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const listed = (names: object): string =>
  Object.keys(names)
    .map((name) => `"${name}"`)
    .join(', ')
