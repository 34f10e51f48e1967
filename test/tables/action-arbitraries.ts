import fc from 'fast-check'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import {
  keyAttributes,
  type KeyAttribute,
  type TableSchema,
} from '#runtime/tables/items/key-schema.ts'

import { PARTITIONS, queriedSchema, SORTS } from './action-tables.ts'
import type { Action, TableRequest } from './answer.ts'
import { condition, keyCondition, projection, update } from './expression-arbitraries.ts'
import { literals, supply, withPlaceholders } from './request-arbitraries.ts'
import { attributes, number, scalar } from './value-arbitraries.ts'

type Body = Readonly<Record<string, unknown>>

/** Sometimes left out. */
const maybe = <Each>(each: fc.Arbitrary<Each>, freq = 2): fc.Arbitrary<Each | undefined> =>
  fc.option(each, { nil: undefined, freq })
/** Mostly left out. */
const seldom = <Each>(each: fc.Arbitrary<Each>): fc.Arbitrary<Each | undefined> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: each })

const returnValues = fc.constantFrom('NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW')
const oldOnly = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('NONE', 'ALL_OLD') },
  { weight: 1, arbitrary: returnValues },
)
const select = fc.constantFrom(
  'ALL_ATTRIBUTES',
  'COUNT',
  'COUNT',
  'SPECIFIC_ATTRIBUTES',
  'ALL_PROJECTED_ATTRIBUTES',
)
const limit = fc.integer({ min: 1, max: 6 })

type Values = Readonly<Record<string, AttributeValue>>

/** All of the fields, mostly; else some of them, or one more. */
function mostlyWhole(
  fields: Readonly<Record<string, fc.Arbitrary<AttributeValue>>>,
): fc.Arbitrary<Values> {
  const whole: fc.Arbitrary<Values> = fc.record(fields, { noNullPrototype: true })
  const names = Object.keys(fields)
  const fewer = fc
    .tuple(whole, fc.constantFrom(...names))
    .map(([all, left]): Values =>
      Object.fromEntries(Object.entries(all).filter(([name]) => name !== left)),
    )
  const more = fc.tuple(whole, scalar).map(([all, extra]): Values => ({ ...all, extra }))
  return fc.oneof(
    { weight: 40, arbitrary: whole },
    { weight: 1, arbitrary: fewer },
    { weight: 1, arbitrary: more },
  )
}

const valueOf = (key: KeyAttribute, isPartition: boolean): fc.Arbitrary<AttributeValue> => {
  const right: fc.Arbitrary<AttributeValue> = isPartition
    ? fc.constantFrom<AttributeValue>(...PARTITIONS[key.type])
    : SORTS[key.type]
  return fc.oneof({ weight: 60, arbitrary: right }, { weight: 1, arbitrary: scalar })
}

/** A key that mostly is one of few, and now and then lacks an attribute or has another one. */
const keyFor = ({ partitionKey, sortKey }: TableSchema): fc.Arbitrary<Values> =>
  mostlyWhole({
    [partitionKey.name]: valueOf(partitionKey, true),
    ...(sortKey && { [sortKey.name]: valueOf(sortKey, false) }),
  })

const requestOf = (
  action: Action,
  fields: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  texts: Readonly<Record<string, fc.Arbitrary<string | undefined>>>,
  extra: fc.Arbitrary<Readonly<Record<string, AttributeValue>>> = fc.constant({}),
): fc.Arbitrary<TableRequest> =>
  fc
    .tuple(fc.record(fields), fc.record(texts), literals, supply, extra)
    .map(([given, written, values, how, more]) => ({
      action,
      body: {
        ...present(given),
        ...withPlaceholders(written, { ...values, ...more }, how),
      },
    }))

const present = (fields: Body): Body =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Requests about single items of a table. */
export function itemRequest(schema: TableSchema): fc.Arbitrary<TableRequest> {
  const Key = keyFor(schema)
  const item = fc.tuple(itemAttributes, Key).map(([rest, key]) => ({ ...rest, ...key }))
  const seldomCondition = maybe(condition)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: requestOf(
        'PutItem',
        { Item: item, ReturnValues: maybe(oldOnly) },
        { ConditionExpression: seldomCondition },
      ),
    },
    {
      weight: 6,
      arbitrary: requestOf(
        'UpdateItem',
        { Key, ReturnValues: maybe(returnValues, 4) },
        { UpdateExpression: maybe(update, 20), ConditionExpression: seldomCondition },
      ),
    },
    {
      weight: 2,
      arbitrary: requestOf(
        'DeleteItem',
        { Key, ReturnValues: maybe(oldOnly) },
        { ConditionExpression: seldomCondition },
      ),
    },
    {
      weight: 3,
      arbitrary: requestOf(
        'GetItem',
        { Key, ConsistentRead: seldom(fc.boolean()) },
        { ProjectionExpression: maybe(projection, 3) },
      ),
    },
  )
}

/** Now and then an attribute that an index has as a key is of another type. */
const itemAttributes = fc.oneof(
  { weight: 20, arbitrary: attributes },
  { weight: 1, arbitrary: attributes.map((each) => ({ ...each, g: { N: '1' } })) },
  { weight: 1, arbitrary: attributes.map((each) => ({ ...each, n: { S: 'a' } })) },
)

export function queryRequest(schema: TableSchema): fc.Arbitrary<TableRequest> {
  return indexOf(schema).chain((IndexName) => {
    const { partitionKey, sortKey } = queriedSchema(schema, IndexName)
    const bound = sortKey === undefined ? number : valueOf(sortKey, false)
    const values = fc.record({
      ':pk': partitionValue(partitionKey),
      ':lo': bound,
      ':hi': bound,
    })
    return requestOf(
      'Query',
      {
        IndexName: fc.constant(IndexName),
        ...pageFields(schema, IndexName),
        ScanIndexForward: maybe(fc.boolean()),
      },
      {
        KeyConditionExpression: keyCondition.map((text) =>
          text
            .replaceAll(/\bpk\b/g, partitionKey.name)
            .replaceAll(/(?<!:)\bsk\b/g, sortKey?.name ?? 'sk')
            .replaceAll(`:${partitionKey.name}`, ':pk'),
        ),
        FilterExpression: maybe(condition),
        ProjectionExpression: seldom(projection),
      },
      values,
    )
  })
}

const partitionValue = (key: KeyAttribute): fc.Arbitrary<AttributeValue> =>
  key.name === 'pk' ? valueOf(key, true) : indexValue(key)

/** What the attributes of items often are. */
const indexValue = ({ name, type }: KeyAttribute): fc.Arbitrary<AttributeValue> => {
  if (name === 'g') return fc.constantFrom({ S: 'g1' }, { S: 'g2' })
  if (name === 's') return fc.constantFrom({ S: 'a' }, { S: 'ab' }, { S: 'abc' })
  return SORTS[type]
}

export function scanRequest(schema: TableSchema): fc.Arbitrary<TableRequest> {
  return fc.tuple(indexOf(schema), maybe(segment, 3)).chain(([IndexName, ofMany]) =>
    requestOf(
      'Scan',
      {
        IndexName: fc.constant(IndexName),
        ...pageFields(schema, IndexName),
        ...(ofMany && segmentFields(ofMany)),
      },
      {
        FilterExpression: maybe(condition),
        ProjectionExpression: seldom(projection),
      },
    ),
  )
}

/** One of some segments; of no more than a table has items. */
const segment = fc.integer({ min: 1, max: 5 }).chain((TotalSegments) =>
  fc.record({
    Segment: fc.nat({ max: TotalSegments - 1 }),
    TotalSegments: fc.constant(TotalSegments),
  }),
)

/** Without a starting key: whether it lies in the segment depends on how each side divides the table. */
const segmentFields = (of: {
  readonly Segment: number
  readonly TotalSegments: number
}): Record<string, fc.Arbitrary<unknown>> => ({
  Segment: fc.constant(of.Segment),
  TotalSegments: fc.constant(of.TotalSegments),
  ExclusiveStartKey: fc.constant(undefined),
})

const indexOf = (schema: TableSchema): fc.Arbitrary<string | undefined> => {
  const names = (schema.globalSecondaryIndexes ?? []).map((index) => index.name)
  return fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(undefined, undefined, ...names) },
    { weight: 1, arbitrary: fc.constantFrom('none-such', 'a', 'by g') },
  )
}

const pageFields = (
  schema: TableSchema,
  IndexName: string | undefined,
): Record<string, fc.Arbitrary<unknown>> => ({
  Limit: maybe(limit),
  Select: seldom(select),
  ConsistentRead: seldom(fc.boolean()),
  ExclusiveStartKey: seldom(startKey(schema, IndexName)),
})

/** Of an item that may be there, mostly; or with what does not belong there. */
function startKey(schema: TableSchema, indexName: string | undefined): fc.Arbitrary<Values> {
  const keys = [...keyAttributes(schema), ...keyAttributes(queriedSchema(schema, indexName))]
  const fields = Object.fromEntries(
    keys.map((key) => [
      key.name,
      key.name === 'pk' ? valueOf(key, true) : fc.oneof(indexValue(key), SORTS[key.type]),
    ]),
  )
  return mostlyWhole(fields)
}
