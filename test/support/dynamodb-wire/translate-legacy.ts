import type { WireItemAction } from './check-request.ts'
import type { ItemRequest } from './item-request.ts'
import { conditionExpression } from './legacy-conditions.ts'
import { updateExpression } from './legacy-updates.ts'
import { Placeholders } from './placeholders.ts'

/** The fields of the layer itself and of the days before expressions. */
const OWN_FIELDS = [
  'TableName',
  'AttributesToGet',
  'AttributeUpdates',
  'Expected',
  'QueryFilter',
  'ScanFilter',
  'KeyConditions',
  'ConditionalOperator',
  'ReturnConsumedCapacity',
  'ReturnItemCollectionMetrics',
] as const
const UNINDEXABLE = ['NULL', 'NOT_NULL', 'NE', 'CONTAINS', 'NOT_CONTAINS', 'IN']
/** No key has this type, so that what no index answers is refused where DynamoDB refuses it. */
const NEVER = { ComparisonOperator: 'EQ', AttributeValueList: [{ SS: ['no key'] }] }

/** A request with expressions alone. A query may have both kinds: key conditions of old and expressions beside them. */
export function translated(
  action: WireItemAction,
  request: ItemRequest,
): Readonly<Record<string, unknown>> {
  const placeholders = new Placeholders()
  const kept = Object.fromEntries(
    Object.entries(request).filter(([name]) => !OWN_FIELDS.some((own) => own === name)),
  )
  const texts = {
    ...projection(request, placeholders),
    ...update(action, request, placeholders),
    ...condition(request, placeholders),
    ...filter(request, placeholders),
    ...keyCondition(request, placeholders),
  }
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = placeholders.fields
  return {
    ...kept,
    ...texts,
    ...merged('ExpressionAttributeNames', request.ExpressionAttributeNames, names),
    ...merged('ExpressionAttributeValues', request.ExpressionAttributeValues, values),
  }
}

function projection({ AttributesToGet: names }: ItemRequest, placeholders: Placeholders): object {
  if (names === undefined) return {}
  return { ProjectionExpression: names.map((name) => placeholders.name(name)).join(', ') }
}

function update(
  action: WireItemAction,
  { AttributeUpdates: updates }: ItemRequest,
  placeholders: Placeholders,
): object {
  if (action !== 'UpdateItem' || updates === undefined) return {}
  return optional('UpdateExpression', updateExpression(updates, placeholders))
}

function condition(request: ItemRequest, placeholders: Placeholders): object {
  if (request.Expected === undefined) return {}
  return optional(
    'ConditionExpression',
    conditionExpression(request.Expected, request.ConditionalOperator, placeholders),
  )
}

function filter(request: ItemRequest, placeholders: Placeholders): object {
  const conditions = request.QueryFilter ?? request.ScanFilter
  if (conditions === undefined) return {}
  return optional(
    'FilterExpression',
    conditionExpression(conditions, request.ConditionalOperator, placeholders),
  )
}

function keyCondition(
  { KeyConditions: conditions }: ItemRequest,
  placeholders: Placeholders,
): object {
  if (conditions === undefined) return {}
  const asked = Object.entries(conditions).map(([name, each]) => [
    name,
    isIndexable(each.ComparisonOperator) ? each : NEVER,
  ])
  const text = conditionExpression(Object.fromEntries(asked), 'AND', placeholders)
  return optional('KeyConditionExpression', text)
}

/** Whether an index could answer the key conditions of old, as far as their operators say. */
export const asksIndexable = ({ KeyConditions: conditions = {} }: ItemRequest): boolean =>
  Object.values(conditions).every((each) => isIndexable(each.ComparisonOperator))

const isIndexable = (operator: string): boolean => !UNINDEXABLE.includes(operator)

const optional = (name: string, text: string | undefined): object =>
  text === undefined ? {} : { [name]: text }

function merged(name: string, given: object | undefined, made: unknown): object {
  if (given === undefined && made === undefined) return {}
  return { [name]: { ...given, ...(made as object | undefined) } }
}
