import {
  type Attributes,
  type AttributeValue,
  attributeOf,
  membersOf,
  typeOf,
} from './attribute-value.ts'

/** Deep equality of canonical values: a set by its members, a map by its attributes, a list in order. */
export function areEqual(one: AttributeValue, other: AttributeValue): boolean {
  if (one === other) return true
  if (typeOf(one) !== typeOf(other)) return false
  if ('L' in one && 'L' in other) return sameList(one.L, other.L)
  if ('M' in one && 'M' in other) return sameAttributes(one.M, other.M)
  const [members, others] = [membersOf(one), membersOf(other)]
  if (members !== undefined && others !== undefined) return sameMembers(members, others)
  return scalarOf(one) === scalarOf(other)
}

function sameList(one: readonly AttributeValue[], other: readonly AttributeValue[]): boolean {
  return (
    one.length === other.length &&
    one.every((value, index) => {
      const counterpart = other[index]
      return counterpart !== undefined && areEqual(value, counterpart)
    })
  )
}

function sameAttributes(one: Attributes, other: Attributes): boolean {
  const entries = Object.entries(one)
  if (entries.length !== Object.keys(other).length) return false
  return entries.every(([name, value]) => {
    const counterpart = attributeOf(other, name)
    return counterpart !== undefined && areEqual(value, counterpart)
  })
}

function sameMembers(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  const known = new Set(other)
  return one.every((member) => known.has(member))
}

function scalarOf(value: AttributeValue): string | boolean | undefined {
  if ('S' in value) return value.S
  if ('N' in value) return value.N
  if ('B' in value) return value.B
  return 'BOOL' in value ? value.BOOL : undefined
}
