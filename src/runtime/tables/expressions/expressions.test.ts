import { describe, expect, test } from 'vitest'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { canonicalNumber } from '#runtime/tables/items/number.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { Expressions, type ExpressionTexts } from './expressions.ts'

type Values = Readonly<Record<string, AttributeValue>>

const expressions = new Expressions()
/** Values are given in the form that they have inside. */
const readValue = (input: unknown): AttributeValue => {
  const value = input as AttributeValue
  return 'N' in value ? { N: canonicalNumber(value.N) } : value
}
const bind = (texts: ExpressionTexts) =>
  expressions.bind(
    texts,
    ['projectionExpression', 'updateExpression', 'conditionExpression'],
    readValue,
  )
const condition = (text: string, values?: Values) =>
  bind({ conditionExpression: text, ...(values && { expressionAttributeValues: values }) })
const update = (text: string, values?: Values) =>
  bind({ updateExpression: text, ...(values && { expressionAttributeValues: values }) })

const N = { ':v': { N: '5' } } as const
const TWO = { ':v': { N: '5' }, ':w': { N: '1' } } as const

describe('a syntax error', () => {
  /** Captured from DynamoDB itself: the token, between its neighbours as they were written. */
  test.each([
    ['SET attrName = 3', '3', '= 3'],
    ['SET MyStr[ 3', '<EOF>', '3'],
    ['SET MyStr[3 )', ')', '3 )'],
    ['SET 2', '2', 'SET 2'],
    ['SET ) 3', ')', 'SET ) 3'],
    ['SET MyStr[ 3 ', '<EOF>', '3 '],
    ['SET MyStr = (:_val + (:val2', '<EOF>', ':val2'],
    ['SET MyStr = [:_val  ', '[', '= [:_val'],
    ['SET MyStr = ):_val + :val2', ')', '= ):_val'],
    ['  RESET NonExistent value', 'RESET', '  RESET NonExistent'],
    ['SET a [  [2] ]. b = 5', '[', '[  [2'],
    ['SET a [2 1]. b = 5', '1', '2 1]'],
    ['SET #a a = 5', 'a', '#a a ='],
    ['SET MyStr = NoExist + - :_val ', '-', '+ - :_val'],
    ['REMOVE NoExist + ', '+', 'NoExist + '],
    ['ADD attr val foobar', 'val', 'attr val foobar'],
    ['ADD attr :val foobar', 'foobar', ':val foobar'],
    ['ADD hits : incr', ':', 'hits : incr'],
    ['REMOVE if_not_exists(a,b)', '(', 'if_not_exists(a'],
    ['SET _123 = :v', '_', 'SET _123'],
  ])('in the update "%s" names "%s" near "%s"', (text, token, near) => {
    const message = `Invalid UpdateExpression: Syntax error; token: "${token}", near: "${near}"`
    expect(() => update(text)).toThrow(validationError(message))
  })

  test.each([
    ['foo', '<EOF>', 'foo'],
    ['a = = :v', '=', '= = :v'],
    ['a IN ()', ')', '()'],
    ['a != :v', '!', 'a !='],
    ['and = :v', 'and', 'and ='],
    ['(a = :v', '<EOF>', ':v'],
    ['a = :v)', ')', ':v)'],
    ['a = (b = :v)', '<EOF>', ')'],
  ])('in the condition "%s" names "%s" near "%s"', (text, token, near) => {
    const message = `Invalid ConditionExpression: Syntax error; token: "${token}", near: "${near}"`
    expect(() => condition(text)).toThrow(validationError(message))
  })
})

describe('a condition', () => {
  const wrong = 'Incorrect operand type for operator or function; operator or function:'
  test.each<[string, Values | undefined, string]>([
    ['((a = :v))', N, 'The expression has redundant parentheses;'],
    ['NOT ((a = :v) OR ((b = :v)))', N, 'The expression has redundant parentheses;'],
    ['('.repeat(4096), undefined, 'The expression has redundant parentheses;'],
    ['status = :v', N, 'Attribute name is a reserved keyword; reserved keyword: status'],
    ['a.b.Value = :v', N, 'Attribute name is a reserved keyword; reserved keyword: Value'],
    ['f(a)', undefined, 'Invalid function name; function: f'],
    ['SIZE(a) = :v', N, 'Invalid function name; function: SIZE'],
    [
      'if_not_exists(a, b) = :v',
      N,
      'The function is not allowed in a condition expression; function: if_not_exists',
    ],
    [
      'size(a)',
      undefined,
      'The function is not allowed to be used this way in an expression; function: size',
    ],
    [
      'begins_with(a, :v) = :w',
      TWO,
      'The function is not allowed to be used this way in an expression; function: begins_with',
    ],
    [
      'a = :x',
      N,
      'An expression attribute value used in expression is not defined; attribute value: :x',
    ],
    [
      '#x = :v',
      N,
      'An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'attribute_exists(a, b)',
      undefined,
      'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2',
    ],
    [
      'attribute_exists(:v)',
      N,
      'Operator or function requires a document path; operator or function: attribute_exists',
    ],
    [
      'contains(a.b[1], a.b[1])',
      undefined,
      'The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a, b, [1]]',
    ],
    ['begins_with(a, :v)', N, `${wrong} begins_with, operand type: N`],
    [
      'attribute_type(a, b)',
      undefined,
      `${wrong} attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}`,
    ],
    [
      'attribute_type(a, :v)',
      { ':v': { S: 'DOG' } },
      'Invalid attribute type name found; type: DOG, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}',
    ],
    ['size(:v) = :w', TWO, `${wrong} size, operand type: N`],
    ['a < :v', { ':v': { L: [] } }, `${wrong} <, operand type: L`],
    [
      'a BETWEEN :v AND :w',
      { ':v': { N: '1' }, ':w': { S: 'a' } },
      'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}',
    ],
    [
      'a BETWEEN :v AND :w',
      TWO,
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}',
    ],
    [
      `a IN (${Array(101).fill(':v').join()})`,
      N,
      'The IN operator is provided with too many operands; number of operands: 101',
    ],
    [
      `a<b ${'or (a<b '.repeat(300)}${')'.repeat(300)}`,
      undefined,
      'The expression contains too many operators; operator count: 301',
    ],
    [
      `${'not '.repeat(1000)}a<b`,
      undefined,
      'The expression contains too many operators; operator count: 301',
    ],
    [
      `a < ${'f('.repeat(1300)}b${')'.repeat(1300)}`,
      undefined,
      'The expression contains too many operators; operator count: 301',
    ],
    [
      `a${'.b'.repeat(32)} = :v`,
      N,
      'The document path has too many nesting levels; nesting levels: 33',
    ],
    ['a[4294967295] = :v', N, 'List index is not within the allowable range; index: [4294967295]'],
    [
      'x'.repeat(4097),
      undefined,
      'Expression size has exceeded the maximum allowed size; expression size: 4097',
    ],
    ['', undefined, 'The expression can not be empty;'],
  ])('is refused: %s', (text, values, message) => {
    const full = validationError(`Invalid ConditionExpression: ${message}`)
    expect(() => condition(text, values)).toThrow(full)
  })

  test.each([
    ['as deep as 300 operators go', `a<b ${'or (a<b '.repeat(149)}${')'.repeat(149)}`],
    ['with keywords in any case', 'not a bEtWeEn b aNd c Or a iN (b)'],
    ['denied again and again', 'NOT NOT NOT NOT a < b'],
    ['with brackets around operands', '(a) = b AND ((b) <> (c)) AND (a).b < c'],
    ['of 4096 bytes', `a${' '.repeat(4091)} < b`],
  ])('is read %s', (_how, text) => {
    expect(condition(text)).toHaveProperty('condition')
  })
})

describe('an update', () => {
  const overlap = 'with each other; must remove or rewrite one of these paths;'
  test.each<[string, Values | undefined, string]>([
    [
      'SET a = :v SET b = :v',
      N,
      'The "SET" section can only be used once in an update expression;',
    ],
    ['SET size = :v', N, 'Attribute name is a reserved keyword; reserved keyword: size'],
    [
      'SET a = size(b)',
      undefined,
      'The function is not allowed in an update expression; function: size',
    ],
    ['SET a = LIST_APPEND(b, c)', undefined, 'Invalid function name; function: LIST_APPEND'],
    [
      'SET a = list_append(list_append(b, c), d)',
      undefined,
      'The function is not allowed to be used this way in an expression; function: list_append',
    ],
    [
      'SET a = list_append(b)',
      undefined,
      'Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1',
    ],
    [
      'SET a = list_append(b, :v)',
      N,
      'Incorrect operand type for operator or function; operator or function: list_append, operand type: N',
    ],
    [
      'SET a = b + :v',
      { ':v': { S: 'x' } },
      'Incorrect operand type for operator or function; operator or function: +, operand type: S',
    ],
    [
      'SET a = if_not_exists(:v, :w)',
      TWO,
      'Operator or function requires a document path; operator or function: if_not_exists',
    ],
    [
      'SET a = :v REMOVE a',
      N,
      `Two document paths overlap ${overlap} path one: [a], path two: [a]`,
    ],
    [
      'SET a.b = :v, a = :w',
      TWO,
      `Two document paths overlap ${overlap} path one: [a, b], path two: [a]`,
    ],
    [
      'SET a[1] = :v, a.b = :w',
      TWO,
      `Two document paths conflict ${overlap} path one: [a, [1]], path two: [a, b]`,
    ],
    [
      'ADD a :v',
      { ':v': { S: 'x' } },
      'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND',
    ],
    [
      'DELETE a :v',
      N,
      'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND',
    ],
    [
      'SET a = #n',
      undefined,
      'An expression attribute name used in the document path is not defined; attribute name: #n',
    ],
  ])('is refused: %s', (text, values, message) => {
    const full = validationError(`Invalid UpdateExpression: ${message}`)
    expect(() => update(text, values)).toThrow(full)
  })
})

const placeholders = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`:v${at}`, { N: '1' }]))

describe('the size of an expression', () => {
  const long = 'x'.repeat(4097)
  const sentence = 'Expression size has exceeded the maximum allowed size;'

  test.each([
    ['ConditionExpression', 'conditionExpression', ' expression size: 4097'],
    ['FilterExpression', 'filterExpression', ' expression size: 4097'],
    ['KeyConditionExpression', 'keyConditionExpression', ''],
    ['ProjectionExpression', 'projectionExpression', ''],
    ['UpdateExpression', 'updateExpression', ''],
  ] as const)('is an error for a %s', (parameter, field, size) => {
    const message = `Invalid ${parameter}: ${sentence}${size}`
    const bindAny = () => expressions.bind({ [field]: long }, [field], readValue)
    expect(bindAny).toThrow(validationError(message))
  })
})

describe('the names and values of a request', () => {
  test.each<[string, ExpressionTexts, string]>([
    [
      'unused',
      { conditionExpression: 'a = :v', expressionAttributeValues: TWO },
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}',
    ],
    [
      'unused as names',
      { projectionExpression: 'a', expressionAttributeNames: { '#a': 'a', '#b': 'b' } },
      'Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}',
    ],
    [
      'without an expression',
      { expressionAttributeNames: { '#a': 'a' } },
      'ExpressionAttributeNames can only be specified when using expressions',
    ],
    [
      'without one that takes them',
      { projectionExpression: 'a', expressionAttributeValues: N },
      'ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null',
    ],
    [
      'none',
      { conditionExpression: 'a = b', expressionAttributeNames: {} },
      'ExpressionAttributeNames must not be empty',
    ],
    [
      'more than any expression can mention',
      { conditionExpression: 'a = :v0', expressionAttributeValues: placeholders(4097) },
      'ExpressionAttributeValues must not hold more than 4096 keys',
    ],
    [
      'without a sign',
      { conditionExpression: 'a = b', expressionAttributeNames: { a: 'a' } },
      'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
    ],
    [
      'with a faulty value',
      { conditionExpression: 'a = :v', expressionAttributeValues: { ':v': { N: 'x' } } },
      'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :v',
    ],
    [
      'too long',
      { conditionExpression: 'a = b', expressionAttributeNames: { [`#${'a'.repeat(255)}`]: 'a' } },
      'ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256',
    ],
    [
      'too long, whatever else is wrong with them',
      { conditionExpression: 'a = b', expressionAttributeValues: { [`:-${'a'.repeat(254)}`]: {} } },
      'ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;',
    ],
    [
      'with an empty name',
      { conditionExpression: '#a = b', expressionAttributeNames: { '#a': '' } },
      'ExpressionAttributeNames contains invalid value: Empty attribute name for key #a',
    ],
    [
      'with a name that no attribute can have',
      { conditionExpression: '#a = b', expressionAttributeNames: { '#a': 'a'.repeat(65_536) } },
      '1 validation error detected: Attribute name is too large, must be less than 65536 bytes',
    ],
  ])('are refused %s', (_what, texts, message) => {
    expect(() => bind(texts)).toThrow(validationError(message))
  })

  test('are put in again each time, though a text is parsed once', () => {
    const text = 'SET #a = :v'
    const first = bind({
      updateExpression: text,
      expressionAttributeNames: { '#a': 'one' },
      expressionAttributeValues: { ':v': { S: 'x' } },
    })
    const second = bind({
      updateExpression: text,
      expressionAttributeNames: { '#a': 'two' },
      expressionAttributeValues: { ':v': { S: 'y' } },
    })
    expect(first.update?.actions).toMatchObject([{ path: ['one'], value: { value: { S: 'x' } } }])
    expect(second.update?.actions).toMatchObject([{ path: ['two'], value: { value: { S: 'y' } } }])
  })
})
