import fc from 'fast-check'

/** Placeholders of names, with what they stand for. */
export const NAMES: Readonly<Record<string, string>> = {
  '#a': 'a',
  '#m': 'm',
  '#x': 'x',
  '#st': 'status',
  '#no': 'absent',
}

const PLAIN = ['a', 'b', 'c', 'l', 'm', 's', 'n', 'ss', 'absent'] as const
const head = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 6, arbitrary: fc.constantFrom(...Object.keys(NAMES)) },
  { weight: 1, arbitrary: fc.constantFrom('g', 'pk', 'status', 'size') },
)
const tail = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '.x',
      '.y',
      '.#x',
      '[0]',
      '[1]',
      '[3]',
      '[9]',
      '.x[0]',
      '[0].x',
      ' . x',
      '[ 1 ]',
    ),
  },
)
const path = fc.tuple(head, tail).map((parts) => parts.join(''))
/**
 * `:p` and `:q` are any values, `:o` and `:r` have an order, `:t` names a type, `:k` is a string or binary, `:i` a
 * number, `:u` a set or number, `:z` a list.
 */
const literal = fc.constantFrom(':p', ':q', ':o', ':r', ':i')
const ordered = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(':o', ':r', ':i') },
  { weight: 1, arbitrary: fc.constant(':p') },
)

const size = fc
  .oneof({ weight: 6, arbitrary: path }, { weight: 1, arbitrary: literal })
  .map((argument) => `size(${argument})`)
const operand = fc.oneof(
  { weight: 6, arbitrary: path },
  { weight: 5, arbitrary: literal },
  { weight: 1, arbitrary: size },
  { weight: 1, arbitrary: path.map((inner) => `(${inner})`) },
)
const space = fc.constantFrom(' ', '  ', '\n')
const word = (text: string) => fc.constantFrom(text, text.toLowerCase())
const listOf = (one: fc.Arbitrary<string>) =>
  fc.array(one, { minLength: 1, maxLength: 3 }).map((all) => all.join(', '))

const orderedOperand = fc.oneof(
  { weight: 6, arbitrary: path },
  { weight: 5, arbitrary: ordered },
  { weight: 1, arbitrary: size },
)
const comparison = fc.oneof(
  fc.tuple(operand, fc.constantFrom('=', '<>'), operand).map((parts) => parts.join(' ')),
  fc
    .tuple(orderedOperand, fc.constantFrom('<', '<=', '>', '>='), orderedOperand)
    .map((parts) => parts.join(' ')),
)
const between = fc
  .tuple(
    orderedOperand,
    word('BETWEEN'),
    fc.constantFrom(':o AND :o', ':i and :i', ':o AND :r', ':r AND :o', ':i AND :o', ':p AND :o'),
  )
  .map((parts) => parts.join(' '))
const membership = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: path }, { weight: 1, arbitrary: literal }),
    word('IN'),
    listOf(literal),
  )
  .map(([left, keyword, right]) => `${left} ${keyword} (${right})`)
const call = fc.oneof(
  path.map((argument) => `attribute_exists(${argument})`),
  path.map((argument) => `attribute_not_exists( ${argument} )`),
  path.map((argument) => `attribute_type(${argument}, :t)`),
  path.map((argument) => `begins_with(${argument}, :k)`),
  path.map((argument) => `begins_with(:k, ${argument})`),
  fc.tuple(operand, operand).map(([one, other]) => `contains(${one}, ${other})`),
)
const oddCall = fc.constantFrom(
  'size(a)',
  'attribute_exists(:p)',
  'attribute_exists(a, b)',
  'attribute_type(a, b)',
  'attribute_type(a, :p)',
  'begins_with(a)',
  'nothing(a)',
  'if_not_exists(a, :p) = :q',
  'contains(a, attribute_exists(b))',
  'attribute_exists(a) = :p',
  'size(size(a)) > :p',
  'size(a, b) > :p',
  'Contains(a, :p)',
  'begins_with(a, size(b))',
  'a = :undefined',
  '#undefined = :p',
  'attribute_type(a, size(b))',
  'size(contains(a, :p)) = :q',
  'begins_with(:undefined)',
  'a <> a',
  'contains(m.x, m.#x)',
)

const predicate = fc.oneof(
  { weight: 6, arbitrary: comparison },
  { weight: 2, arbitrary: between },
  { weight: 2, arbitrary: membership },
  { weight: 6, arbitrary: call },
  { weight: 1, arbitrary: oddCall },
)

const { condition: wellFormed } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true, maxDepth: 3 },
    { weight: 5, arbitrary: predicate },
    {
      weight: 3,
      arbitrary: fc
        .tuple(tie('condition'), space, fc.oneof(word('AND'), word('OR')), space, tie('condition'))
        .map((parts) => parts.join('')),
    },
    { weight: 1, arbitrary: tie('condition').map((inner) => `NOT (${inner})`) },
    { weight: 1, arbitrary: tie('condition').map((inner) => `not ${inner}`) },
    { weight: 2, arbitrary: tie('condition').map((inner) => `(${inner})`) },
  ),
}))

function ifNotExists(otherwise: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(path, otherwise).map(([one, other]) => `if_not_exists(${one}, ${other})`)
}
const updateOperand = fc.oneof(
  { weight: 5, arbitrary: literal },
  { weight: 4, arbitrary: path },
  { weight: 2, arbitrary: ifNotExists(literal) },
)
const numeric = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('n', 'n', ':i') },
  { weight: 2, arbitrary: ifNotExists(fc.constant(':i')) },
  { weight: 1, arbitrary: updateOperand },
)
const listed = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('l', ':z', 'if_not_exists(l, :z)') },
  { weight: 1, arbitrary: updateOperand },
)
const updateValue = fc.oneof(
  { weight: 8, arbitrary: updateOperand },
  {
    weight: 4,
    arbitrary: fc
      .tuple(numeric, fc.constantFrom('+', '-'), numeric)
      .map((parts) => parts.join(' ')),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(listed, listed).map(([one, other]) => `list_append(${one}, ${other})`),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(numeric, numeric).map(([one, other]) => `((${one}) + ${other})`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'size(a)',
      'nothing(a)',
      'list_append(a)',
      'if_not_exists(:p, :q)',
      'list_append(list_append(l, :p), :q)',
      ':undefined',
      'if_not_exists(a)',
      'if_not_exists(a, if_not_exists(b, :p))',
      '#undefined',
    ),
  },
)
/** Places that often are there. */
const target = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'n', 's', '#st') },
  {
    weight: 4,
    arbitrary: fc.constantFrom('l[0]', 'l[1]', 'l[2]', 'l[7]', 'm.x', 'm.y', 'm.#a', '#m.z'),
  },
  { weight: 3, arbitrary: path },
)
const added = fc.oneof(
  { weight: 12, arbitrary: fc.constant(':u') },
  { weight: 1, arbitrary: literal },
)
const collection = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('ss', 'n') },
  { weight: 3, arbitrary: target },
)
const actions = {
  SET: fc.tuple(target, updateValue).map(([place, value]) => `${place} = ${value}`),
  REMOVE: target,
  ADD: fc.tuple(collection, added).map((parts) => parts.join(' ')),
  DELETE: fc.tuple(collection, added).map((parts) => parts.join(' ')),
}
const section = fc
  .oneof(
    { weight: 5, arbitrary: fc.constant('SET' as const) },
    { weight: 2, arbitrary: fc.constant('REMOVE' as const) },
    { weight: 2, arbitrary: fc.constant('ADD' as const) },
    { weight: 2, arbitrary: fc.constant('DELETE' as const) },
  )
  .chain((name) => fc.tuple(word(name), listOf(actions[name])).map((parts) => parts.join(' ')))
const updates = fc
  .uniqueArray(section, {
    minLength: 1,
    maxLength: 3,
    selector: (text) => text.slice(0, 3).toLowerCase() + (text.length % 17 === 0 ? text : ''),
  })
  .map((all) => all.join(' '))

/** Sometimes a text with one character lost, doubled, or put in. */
const damaged = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: text },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          text,
          fc.nat(),
          fc.constantFrom(
            '',
            '(',
            ')',
            ',',
            '.',
            '=',
            '!',
            '[',
            ':',
            '#',
            '+',
            '<',
            ' x ',
            '_',
            '1',
          ),
        )
        .map(([whole, at, inserted]) => {
          const index = at % (whole.length + 1)
          return whole.slice(0, index) + inserted + whole.slice(index + (inserted === '' ? 1 : 0))
        }),
    },
  )

export const condition = damaged(wellFormed)
export const update = damaged(updates)
export const projection = damaged(listOf(path))

const sortPart = fc.oneof(
  fc.constantFrom('=', '<', '<=', '>', '>=').map((operator) => `sk ${operator} :lo`),
  fc.constantFrom('=', '<', '<=', '>', '>=').map((operator) => `:lo ${operator} sk`),
  fc.constant('sk BETWEEN :lo AND :hi'),
  fc.constant('begins_with(sk, :lo)'),
)
const oddPart = fc.constantFrom(
  'sk <> :lo',
  'sk IN (:lo)',
  'contains(sk, :lo)',
  'attribute_exists(sk)',
  'NOT sk = :lo',
  'a = :lo',
  'sk.x = :lo',
  'size(sk) = :lo',
  'sk = a',
  ':lo = :hi',
  ':lo BETWEEN sk AND :hi',
  'begins_with(:lo, sk)',
  'sk = :lo AND sk = :hi',
  'sk = :lo AND a = :hi',
  'sk = :lo OR a = :hi',
  'pk = :lo',
  'sk BETWEEN :lo AND sk',
  'sk = sk',
)
const partitionPart = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('pk = :pk', ':pk = pk', '(pk = :pk)') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('pk > :pk', 'begins_with(pk, :pk)', 'a = :pk', 'pk = :lo'),
  },
)
export const keyCondition = damaged(
  fc.oneof(
    { weight: 2, arbitrary: partitionPart },
    { weight: 8, arbitrary: fc.tuple(partitionPart, sortPart).map((parts) => parts.join(' AND ')) },
    { weight: 4, arbitrary: fc.tuple(sortPart, partitionPart).map((parts) => parts.join(' and ')) },
    { weight: 2, arbitrary: fc.tuple(partitionPart, oddPart).map((parts) => parts.join(' AND ')) },
  ),
)
