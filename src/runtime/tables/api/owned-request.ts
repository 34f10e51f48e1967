import { invalid } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import { unknownIndex } from '#runtime/tables/actions/page.ts'
import { conjunction } from '#runtime/tables/expressions/conjunction.ts'
import { parseNamed } from '#runtime/tables/expressions/expressions.ts'
import { parseUpdate } from '#runtime/tables/expressions/parse-update.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { RequestFields } from './request-fields.ts'

/** The actions on single items and pages. */
type ItemAction = 'get' | 'query' | 'scan' | 'put' | 'update' | 'delete'

/** The attribute that says whose an item is, and who asks. */
export interface TableOwner {
  readonly attribute: string
  readonly sub: string
}

/** A request that reaches the caller's items only. */
export interface OwnRequest {
  readonly action: ItemAction
  readonly input: RequestFields
  /** A query stands for the get: its first item is the answer. */
  readonly first?: true
  /** Items of others are passed over, so how many were looked at is not the caller's to know. */
  readonly filtered?: true
}

/** Placeholders of ours begin with this; callers' may not. */
const RESERVED = /[#:]croft/
const OWNER = '#croftOwner = :croftOwner'
const EXPRESSIONS = [
  'keyConditionExpression',
  'filterExpression',
  'conditionExpression',
  'projectionExpression',
  'updateExpression',
] as const
/** Confines `request` to the items whose owner attribute is the caller's `sub`. */
export function ownRequest(
  schema: TableConfig,
  action: ItemAction,
  request: RequestFields,
  owner: TableOwner,
): OwnRequest {
  refuseReserved(request)
  switch (action) {
    case 'get':
      return isKey(schema, owner) ? keyed(action, request, owner) : ownGet(schema, request, owner)
    case 'delete':
    case 'update':
      if (action === 'update') refuseOwnerTarget(request, owner)
      return isKey(schema, owner)
        ? keyed(action, request, owner)
        : { action, input: narrowed(request, 'conditionExpression', owner) }
    case 'put':
      return ownPut(schema, request, owner)
    case 'query':
      return ownQuery(schema, request, owner)
    case 'scan':
      return ownScan(schema, request, owner)
  }
}

const isKey = ({ partitionKey, sortKey }: TableConfig, { attribute }: TableOwner): boolean =>
  attribute === partitionKey.name || attribute === sortKey?.name

function keyed(action: ItemAction, request: RequestFields, owner: TableOwner): OwnRequest {
  return { action, input: { ...request, key: withOwner(request['key'], owner) } }
}

const withOwner = (fields: unknown, { attribute, sub }: TableOwner): object => ({
  ...(isJsonObject(fields) ? fields : {}),
  [attribute]: sub,
})

/** A get has no condition: the query of that one key has a filter. */
function ownGet(schema: TableConfig, request: RequestFields, owner: TableOwner): OwnRequest {
  const { key, ...rest } = request
  const attributes = [schema.partitionKey, ...(schema.sortKey ? [schema.sortKey] : [])]
  const values = isJsonObject(key) ? key : {}
  const whole = attributes.every(({ name }) => Object.hasOwn(values, name))
  if (!whole || Object.keys(values).length !== attributes.length) {
    throw validationError('The provided key element does not match the schema')
  }
  const condition = attributes.map((_attribute, at) => `#croftKey${at} = :croftKey${at}`)
  const placed = withPlaceholders(rest, {
    names: Object.fromEntries(attributes.map(({ name }, at) => [`#croftKey${at}`, name])),
    values: Object.fromEntries(attributes.map(({ name }, at) => [`:croftKey${at}`, values[name]])),
  })
  const input = { ...placed, keyConditionExpression: condition.join(' AND ') }
  return {
    action: 'query',
    input: narrowed(input, 'filterExpression', owner),
    first: true,
    filtered: true,
  }
}

/** An item of another owner is never overwritten; one without an owner becomes the caller's. */
function ownPut(schema: TableConfig, request: RequestFields, owner: TableOwner): OwnRequest {
  const input = { ...request, item: withOwner(request['item'], owner) }
  if (isKey(schema, owner)) return { action: 'put', input }
  const placed = withPlaceholders(input, {
    names: { '#croftKey0': schema.partitionKey.name },
    values: {},
  })
  const free = `(attribute_not_exists(#croftKey0) OR ${OWNER})`
  return { action: 'put', input: narrowed(placed, 'conditionExpression', owner, free) }
}

function ownQuery(schema: TableConfig, request: RequestFields, owner: TableOwner): OwnRequest {
  const { partitionKey, sortKey } = keysOf(schema, request)
  if (owner.attribute === partitionKey.name) {
    return { action: 'query', input: narrowed(request, 'keyConditionExpression', owner) }
  }
  if (request['keyConditionExpression'] === undefined) {
    throw invalid('payload.keyConditionExpression', 'is required')
  }
  return owner.attribute === sortKey?.name
    ? { action: 'query', input: narrowed(request, 'keyConditionExpression', owner) }
    : { action: 'query', input: narrowed(request, 'filterExpression', owner), filtered: true }
}

/** Where each partition belongs to an owner, a scan reads the caller's partition alone. */
function ownScan(schema: TableConfig, request: RequestFields, owner: TableOwner): OwnRequest {
  const { partitionKey } = keysOf(schema, request)
  if (owner.attribute !== partitionKey.name) {
    return { action: 'scan', input: narrowed(request, 'filterExpression', owner), filtered: true }
  }
  for (const field of ['segment', 'totalSegments']) {
    if (request[field] !== undefined) {
      throw invalid(`payload.${field}`, 'has no meaning: the caller’s items are one partition')
    }
  }
  return { action: 'query', input: narrowed(request, 'keyConditionExpression', owner) }
}

/** Returns the keys of the index that the request names, or of the table. */
function keysOf(
  schema: TableConfig,
  request: RequestFields,
): Pick<TableConfig, 'partitionKey' | 'sortKey'> {
  const name = request['indexName']
  if (typeof name !== 'string') return schema
  const index = schema.globalSecondaryIndexes?.find((each) => each.name === name)
  if (index) return index
  throw unknownIndex(name)
}

function narrowed(
  request: RequestFields,
  field: 'keyConditionExpression' | 'filterExpression' | 'conditionExpression',
  { attribute, sub }: TableOwner,
  mine: string = OWNER,
): RequestFields {
  const theirs = request[field]
  const text = typeof theirs === 'string' ? theirs : undefined
  return {
    ...withPlaceholders(request, {
      names: { '#croftOwner': attribute },
      values: { ':croftOwner': sub },
    }),
    [field]: conjunction(field, mine, text),
  }
}

function withPlaceholders(
  request: RequestFields,
  ours: { readonly names: object; readonly values: object },
): RequestFields {
  const mapOf = (value: unknown) => (isJsonObject(value) ? value : {})
  const names = { ...mapOf(request['expressionAttributeNames']), ...ours.names }
  const values = { ...mapOf(request['expressionAttributeValues']), ...ours.values }
  return {
    ...request,
    expressionAttributeNames: names,
    ...(Object.keys(values).length === 0 ? {} : { expressionAttributeValues: values }),
  }
}

function refuseReserved(request: RequestFields): void {
  for (const field of ['expressionAttributeNames', 'expressionAttributeValues']) {
    const map = request[field]
    if (isJsonObject(map) && Object.keys(map).some((key) => RESERVED.test(key)))
      throw reserved(field)
  }
  for (const field of EXPRESSIONS) {
    const text = request[field]
    if (typeof text === 'string' && RESERVED.test(text)) throw reserved(field)
  }
}

const reserved = (field: string): Error =>
  invalid(`payload.${field}`, 'uses a placeholder that begins with "croft": choose another name')

/** Whose an item is never changes, whatever an update says and however it spells the attribute. */
function refuseOwnerTarget(request: RequestFields, { attribute }: TableOwner): void {
  const text = request['updateExpression']
  if (typeof text !== 'string') return
  const given = request['expressionAttributeNames']
  const names = isJsonObject(given) ? given : {}
  for (const { path } of parseNamed('updateExpression', text, parseUpdate)) {
    const [first] = path
    const placeholder = typeof first === 'string' && first.startsWith('#')
    const name = placeholder && Object.hasOwn(names, first) ? names[first] : first
    if (name === attribute) {
      throw invalid('payload.updateExpression', `"${attribute}" says whose the item is: it stays`)
    }
  }
}
