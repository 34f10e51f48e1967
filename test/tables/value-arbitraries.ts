import fc from 'fast-check'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'

/** Values in the wire shape, not always in canonical form. */
type WireValue = AttributeValue

const strings = fc.constantFrom('', 'a', 'ab', 'b', 'abc', 'é', 'z z', '10')
const numbers = fc.constantFrom(
  '0',
  '1',
  '-1',
  '2',
  '10',
  '-10',
  '1.5',
  '1.50',
  '0.1',
  '007',
  '1e3',
  '1E-3',
  '-0',
  '.5',
  '5.',
  '123456789012345678901234567890',
  '99999999999999999999',
  '-1.25',
)
const binaries = fc.constantFrom('', 'AA==', 'AAE=', 'YWI=', 'YWJj', '/w==')

const set = <Member>(members: fc.Arbitrary<Member>, same: (member: Member) => unknown) =>
  fc.uniqueArray(members, { minLength: 1, maxLength: 3, selector: same })

export const scalar: fc.Arbitrary<WireValue> = fc.oneof(
  { weight: 4, arbitrary: strings.map((S) => ({ S })) },
  { weight: 5, arbitrary: numbers.map((N) => ({ N })) },
  { weight: 2, arbitrary: binaries.map((B) => ({ B })) },
  { weight: 1, arbitrary: fc.boolean().map((BOOL) => ({ BOOL })) },
  { weight: 1, arbitrary: fc.constant({ NULL: true as const }) },
)

export const number: fc.Arbitrary<WireValue> = numbers.map((N) => ({ N }))
/** Values that have an order. */
export const ordered: fc.Arbitrary<WireValue> = fc.oneof(
  { weight: 3, arbitrary: strings.map((S) => ({ S })) },
  { weight: 3, arbitrary: number },
  { weight: 1, arbitrary: binaries.map((B) => ({ B })) },
)

export const anySet: fc.Arbitrary<WireValue> = fc.oneof(
  set(strings, String).map((SS) => ({ SS })),
  set(numbers, (text) => String(Number(text))).map((NS) => ({ NS })),
  set(binaries, String).map((BS) => ({ BS })),
)

const leaf = fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: anySet })

const listOf = (value: fc.Arbitrary<WireValue>): fc.Arbitrary<WireValue> =>
  fc.array(value, { maxLength: 4 }).map((L) => ({ L }))

const mapOf = (value: fc.Arbitrary<WireValue>): fc.Arbitrary<WireValue> =>
  fc
    .dictionary(fc.constantFrom('x', 'y', 'a'), value, { maxKeys: 3, noNullPrototype: true })
    .map((M) => ({ M }))

const inner = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: listOf(leaf) },
  { weight: 1, arbitrary: mapOf(leaf) },
)

export const list = listOf(inner)
const map = mapOf(inner)
export const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: anySet },
  { weight: 1, arbitrary: list },
  { weight: 1, arbitrary: map },
)

/** What an item has beside its key: attributes that mostly have the type their name suggests. */
export const attributes: fc.Arbitrary<Record<string, WireValue>> = fc
  .record(
    {
      a: value,
      b: value,
      c: value,
      l: list,
      m: map,
      s: strings.map((S) => ({ S })),
      n: numbers.map((N) => ({ N })),
      ss: anySet,
      g: fc.constantFrom('g1', 'g2').map((S) => ({ S })),
      status: scalar,
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((record) => ({ ...record }))

export const typeName = fc.constantFrom(
  'S',
  'N',
  'B',
  'BOOL',
  'NULL',
  'L',
  'M',
  'SS',
  'NS',
  'BS',
  'X',
)
export const prefix: fc.Arbitrary<WireValue> = fc.oneof(
  { weight: 5, arbitrary: strings.map((S) => ({ S })) },
  { weight: 3, arbitrary: binaries.map((B) => ({ B })) },
  { weight: 1, arbitrary: scalar },
)
export const keyNumber = fc.constantFrom('0', '1', '2', '-1', '1.5', '10', '-10', '0.1', '1e2')
export const keyText = fc.constantFrom('a', 'ab', 'abc', 'b', 'ba', 'é', 'z')
export const keyBytes = fc.constantFrom('AA==', 'AAE=', 'YWI=', 'YWJj', '/w==')
