import fc from 'fast-check'

import type { TableRequest } from './answer.ts'

type Body = Readonly<Record<string, unknown>>
type Change = (body: Body) => Body

const set =
  (name: string, value: unknown): Change =>
  (body) => ({ ...body, [name]: value })
const without =
  (name: string): Change =>
  (body) =>
    Object.fromEntries(Object.entries(body).filter(([each]) => each !== name))
/** Into one of the fields that hold attribute values, if the request has it. */
const within =
  (name: string, attribute: string, value: unknown): Change =>
  (body) => {
    const held = body[name]
    if (typeof held !== 'object' || held === null) return body
    return { ...body, [name]: { ...held, [attribute]: value } }
  }

const BROKEN_VALUES = [
  {},
  { S: 'a', N: '1' },
  { N: '' },
  { N: 'abc' },
  { N: '1e126' },
  { N: '1e-131' },
  { N: '123456789012345678901234567890123456789' },
  { SS: [] },
  { NS: [] },
  { BS: [] },
  { SS: ['a', 'a'] },
  { NS: ['1', '1.0'] },
  { BS: ['AA==', 'AA=='] },
  { NULL: false },
  { L: [{}] },
  { M: { a: { N: 'x' } } },
  { N: '1', S: 'a' },
  { S: 'a', N: 'x' },
  { S: 'a', L: [{ M: { b: { NS: ['1', 'x'] } } }] },
  { SS: ['a', 'a'], NS: [], BS: ['AA==', 'AA=='] },
  { X: 'a' },
]
const MISTYPED_VALUES = [
  { S: 1 },
  { S: true },
  { S: [] },
  { S: {} },
  { N: 1 },
  { N: 1.5 },
  { B: 'abc' },
  { B: 1 },
  { B: 'ab=c' },
  { BOOL: 'maybe' },
  { BOOL: 1 },
  { BOOL: [] },
  { SS: 'a' },
  { SS: {} },
  { SS: [1] },
  { L: 'a' },
  { L: [1] },
  { M: [] },
  { M: 'a' },
  'a',
  1,
  [],
]
const PLACES = [
  ['Key', 'pk'],
  ['Key', 'sk'],
  ['Item', 'pk'],
  ['Item', 'sk'],
  ['Item', 'a'],
  ['ExpressionAttributeValues', ':p'],
  ['ExclusiveStartKey', 'pk'],
] as const

/** What DynamoDB refuses by a rule of one parameter, or of how parameters go together. */
const RULE_BREAKERS: readonly Change[] = [
  ...['Key', 'Item', 'KeyConditionExpression'].map(without),
  ...['ReturnValues', 'Select', 'ReturnConsumedCapacity', 'ReturnItemCollectionMetrics'].flatMap(
    (name) => ['', 'all', 'NONE '].map((value) => set(name, value)),
  ),
  ...['', 'ab', 'a b', 'by-none'].map((value) => set('IndexName', value)),
  ...[0, -1].map((value) => set('Limit', value)),
  ...[-1, 0, 1, 5].map((value) => set('Segment', value)),
  ...[0, 1].map((value) => set('TotalSegments', value)),
  (body) => ({ ...body, Segment: 3, TotalSegments: 3 }),
  (body) => ({ ...body, Segment: -1, TotalSegments: 0, Limit: 0 }),
  ...[{}, { a: 'a' }, { '#': 'a' }, { '#a-b': 'a' }, { '#unused': 'a' }].map((value) =>
    set('ExpressionAttributeNames', value),
  ),
  ...[{}, { a: { S: 'a' } }, { ':': { S: 'a' } }, { ':unused': { S: 'a' } }].map((value) =>
    set('ExpressionAttributeValues', value),
  ),
  ...[
    'ConditionExpression',
    'UpdateExpression',
    'FilterExpression',
    'ProjectionExpression',
    'KeyConditionExpression',
  ].map((name) => set(name, '')),
  ...PLACES.flatMap(([name, attribute]) =>
    BROKEN_VALUES.map((value) => within(name, attribute, value)),
  ),
  set('Key', {}),
  set('Item', {}),
  set('ExclusiveStartKey', {}),
  set('Unknown', 'x'),
]

/** What is of another JSON type than DynamoDB reads there. */
const MISTYPED: readonly Change[] = [
  ...['Key', 'Item', 'ExpressionAttributeNames', 'ExpressionAttributeValues'].flatMap((name) =>
    ['a', 1, true, []].map((value) => set(name, value)),
  ),
  ...['ConditionExpression', 'ProjectionExpression', 'ReturnValues', 'IndexName'].flatMap((name) =>
    [1, 1.5, false, [], {}].map((value) => set(name, value)),
  ),
  ...['1', true, [], {}].map((value) => set('Limit', value)),
  ...[1, 'maybe', [], {}].map((value) => set('ConsistentRead', value)),
  set('ExpressionAttributeNames', { '#a': 1 }),
  ...PLACES.flatMap(([name, attribute]) =>
    MISTYPED_VALUES.map((value) => within(name, attribute, value)),
  ),
]

const changed = (
  request: fc.Arbitrary<TableRequest>,
  changes: readonly Change[],
): fc.Arbitrary<TableRequest> =>
  fc
    .tuple(request, fc.constantFrom(...changes))
    .map(([{ action, body }, change]) => ({ action, body: change(body) }))

export const ruleBreaking = (request: fc.Arbitrary<TableRequest>): fc.Arbitrary<TableRequest> =>
  changed(request, RULE_BREAKERS)

export const mistyped = (request: fc.Arbitrary<TableRequest>): fc.Arbitrary<TableRequest> =>
  changed(request, MISTYPED)
