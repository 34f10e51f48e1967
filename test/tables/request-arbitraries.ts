import fc from 'fast-check'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'

import type { TableRequest } from './answer.ts'
import { condition, keyCondition, NAMES, projection, update } from './expression-arbitraries.ts'
import {
  anySet,
  number,
  ordered,
  attributes,
  keyBytes,
  keyNumber,
  keyText,
  list,
  prefix,
  scalar,
  typeName,
  value,
} from './value-arbitraries.ts'

/** One item, or none, and one request about it. */
export interface WriteCase {
  readonly stored: Readonly<Record<string, AttributeValue>> | undefined
  readonly request: TableRequest
}

type Texts = Readonly<Record<string, string | undefined>>
type Values = Readonly<Record<string, AttributeValue>>

export const literals = fc.record({
  ':p': value,
  ':q': scalar,
  ':r': ordered,
  ':o': ordered,
  ':i': number,
  ':u': fc.oneof({ weight: 3, arbitrary: anySet }, { weight: 2, arbitrary: number }),
  ':z': list,
  ':t': typeName.map((S) => ({ S })),
  ':k': prefix,
})
/** Which placeholders the request gives: those it uses, one fewer, or one more. */
export const supply = fc.oneof(
  { weight: 20, arbitrary: fc.constant('used' as const) },
  { weight: 1, arbitrary: fc.constant('fewer' as const) },
  { weight: 1, arbitrary: fc.constant('more' as const) },
)
const sometimes = <Each>(each: fc.Arbitrary<Each>) => fc.option(each, { nil: undefined })
const stored = fc.option(attributes, { nil: undefined, freq: 8 })
const returnValues = fc.constantFrom('ALL_NEW', 'UPDATED_NEW', 'UPDATED_OLD')

const requestOf = (
  action: TableRequest['action'],
  texts: fc.Arbitrary<Texts>,
  others: fc.Arbitrary<Record<string, unknown>> = fc.constant({}),
): fc.Arbitrary<TableRequest> =>
  fc.tuple(texts, literals, supply, others).map(([given, values, how, rest]) => ({
    action,
    body: { ...rest, ...withPlaceholders(given, values, how) },
  }))

export const writeCase: fc.Arbitrary<WriteCase> = fc.record({
  stored,
  request: fc.oneof(
    {
      weight: 6,
      arbitrary: requestOf(
        'UpdateItem',
        fc.record({ UpdateExpression: update }),
        fc.record({ ReturnValues: returnValues }),
      ),
    },
    {
      weight: 2,
      arbitrary: requestOf(
        'UpdateItem',
        fc.record({ UpdateExpression: update, ConditionExpression: condition }),
        fc.constant({ ReturnValues: 'ALL_NEW' }),
      ),
    },
    {
      weight: 3,
      arbitrary: requestOf(
        'PutItem',
        fc.record({ ConditionExpression: condition }),
        attributes.map((Item) => ({ Item, ReturnValues: 'ALL_OLD' })),
      ),
    },
    {
      weight: 1,
      arbitrary: requestOf(
        'DeleteItem',
        fc.record({ ConditionExpression: condition }),
        fc.constant({ ReturnValues: 'ALL_OLD' }),
      ),
    },
    { weight: 3, arbitrary: requestOf('GetItem', fc.record({ ProjectionExpression: projection })) },
  ),
})

export const scanRequest: fc.Arbitrary<TableRequest> = requestOf(
  'Scan',
  fc.record({ FilterExpression: condition, ProjectionExpression: sometimes(projection) }),
  fc.constant({ TableName: 'pool' }),
)

const KEYS = {
  rows: keyNumber.map((N) => ({ N })),
  texts: keyText.map((S) => ({ S })),
  bytes: keyBytes.map((B) => ({ B })),
}
/** The partition that each table's items for queries are in. */
export const PARTITIONS = {
  rows: { S: 'queried' },
  texts: { S: 'queried' },
  bytes: { N: '7' },
} as const satisfies Record<keyof typeof KEYS, AttributeValue>

const bounds = (key: fc.Arbitrary<AttributeValue>): fc.Arbitrary<Values> => {
  const bound = fc.oneof({ weight: 12, arbitrary: key }, { weight: 1, arbitrary: value })
  return fc.record({ ':lo': bound, ':hi': bound })
}

const queryOf = (table: keyof typeof KEYS): fc.Arbitrary<TableRequest> =>
  fc
    .record({
      KeyConditionExpression: keyCondition,
      FilterExpression: fc.option(condition, { nil: undefined, freq: 2 }),
      ProjectionExpression: fc.option(projection, { nil: undefined, freq: 2 }),
      forward: fc.boolean(),
      between: bounds(KEYS[table]),
      values: literals,
      how: supply,
    })
    .map(({ forward, between, values, how, ...texts }) => ({
      action: 'Query',
      body: {
        TableName: table,
        ScanIndexForward: forward,
        ...withPlaceholders(texts, { ...values, ...between, ':pk': PARTITIONS[table] }, how),
      },
    }))

export const queryRequest: fc.Arbitrary<TableRequest> = fc.oneof(
  queryOf('rows'),
  queryOf('texts'),
  queryOf('bytes'),
)

/** The texts, with the names and values they mention. */
export function withPlaceholders(
  texts: Texts,
  values: Values,
  how: 'used' | 'fewer' | 'more',
): object {
  const all = Object.values(texts).join(' ')
  const names = Object.entries(NAMES).filter(([name]) => mentions(all, name))
  const used = Object.entries(values).filter(([name]) => mentions(all, name))
  if (how === 'fewer') used.pop()
  if (how === 'more') names.push(['#more', 'more'])
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(used.length > 0 && { ExpressionAttributeValues: Object.fromEntries(used) }),
  }
}

const mentions = (text: string, placeholder: string): boolean =>
  new RegExp(`${placeholder}(?![A-Za-z0-9_])`).test(text)
