import {
  ATTRIBUTE_TYPES,
  type Attributes,
  type AttributeType,
  type AttributeValue,
  type Item,
  type SetType,
} from '#runtime/tables/items/attribute-value.ts'
import { isCanonicalBase64 } from '#runtime/tables/items/base64.ts'
import { checkAttributeName, checkLevel } from '#runtime/tables/items/limits.ts'
import { canonicalNumber } from '#runtime/tables/items/number.ts'
import { checkedSet } from '#runtime/tables/items/plain-value.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

const INVALID = 'One or more parameter values were invalid: '
const NULL_MEMBER = {
  SS: `${INVALID}An string set may not have a null string as a member`,
  NS: `${INVALID}An number set may not have a null string as a member`,
  BS: `${INVALID}Binary sets may not contain null or empty values`,
} as const satisfies Record<SetType, string>

function checkNoNull(type: SetType, members: readonly unknown[]): void {
  if (members.includes(null)) throw validationError(NULL_MEMBER[type])
}

type Fields = Readonly<Record<string, unknown>>

/** Reads a value in DynamoDB's wire shape and brings it into canonical form. */
export function readWireValue(input: unknown, level = 1): AttributeValue {
  checkLevel(level)
  const fields = fieldsOf(input)
  const types = ATTRIBUTE_TYPES.filter((type) => isGiven(fields, type))
  const [type, ...others] = types
  if (type === undefined) {
    throw validationError(
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    )
  }
  const value = READERS[type](fields[type], level)
  if (others.length > 0) {
    // A fault of any of them is said first.
    for (const other of others) READERS[other](fields[other], level)
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  return value
}

/** Reads an item, a key or any other set of named values. */
export function readWireItem(input: unknown): Item {
  const fields = fieldsOf(input)
  if (Object.hasOwn(fields, '')) throw validationError('Empty attribute name')
  return readAttributes(fields, 1)
}

const READERS: Readonly<Record<AttributeType, (input: unknown, level: number) => AttributeValue>> =
  {
    S: (input) => ({ S: textOf(input) }),
    N: (input) => ({ N: canonicalNumber(textOf(input)) }),
    B: (input) => ({ B: base64Of(input) }),
    BOOL: (input) => ({ BOOL: booleanOf(input) }),
    NULL: (input) => nullOf(input),
    M: (input, level) => ({ M: readAttributes(fieldsOf(input), level + 1) }),
    L: (input, level) => ({ L: listOf(input).map((each) => readWireValue(each, level + 1)) }),
    SS: (input) => checkedSet('SS', membersOf('SS', input).map(textOf)),
    NS: (input) => checkedSet('NS', membersOf('NS', input).map(textOf).map(canonicalNumber)),
    BS: (input) => checkedSet('BS', membersOf('BS', input).map(base64Of)),
  }

const readAttributes = (fields: Fields, level: number): Attributes =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      checkAttributeName(name)
      return [name, readWireValue(value, level)]
    }),
  )

function nullOf(input: unknown): AttributeValue {
  if (booleanOf(input)) return { NULL: true }
  throw validationError(
    'One or more parameter values were invalid: Null attribute value types must have the value of true',
  )
}

function fieldsOf(input: unknown): Fields {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input }
  throw validationError('Unexpected value type in payload')
}

const isGiven = (fields: Fields, type: AttributeType): boolean =>
  Object.hasOwn(fields, type) && fields[type] !== null && fields[type] !== undefined

function textOf(input: unknown): string {
  if (typeof input === 'string') return input
  throw validationError('Unexpected token received from parser')
}

function booleanOf(input: unknown): boolean {
  if (typeof input === 'boolean') return input
  throw validationError('Unexpected token received from parser')
}

function base64Of(input: unknown): string {
  const text = textOf(input)
  if (text.length % 4 !== 0) {
    throw validationError(
      `Base64 encoded length is expected a multiple of 4 bytes but found: ${text.length}`,
    )
  }
  if (isCanonicalBase64(text)) return text
  throw validationError('Invalid last non-pad Base64 character dectected')
}

function membersOf(type: SetType, input: unknown): readonly unknown[] {
  const members = listOf(input)
  checkNoNull(type, members)
  return members
}

function listOf(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input
  throw validationError('Unexpected field type')
}
