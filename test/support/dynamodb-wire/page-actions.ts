import { AppError } from '#base/app-error.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { asksCapacity, capacityField, type Consumed, pageUnits } from './capacity.ts'
import { WIRE } from './codec.ts'
import type { ActionAnswer, WireEngine } from './engine.ts'
import { IndexContents, type Narrowing } from './index-contents.ts'
import type { ItemRequest } from './item-request.ts'
import { mentioned } from './placeholders.ts'
import { asksIndexable } from './translate-legacy.ts'
import { validationFault } from './wire-error.ts'
import type { WireIndex, WireTable } from './wire-table.ts'

const NARROWING = [
  'FilterExpression',
  'ProjectionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'Select',
] as const
/** What DynamoDB finds only after it found that an index does not hold all attributes. */
const FOUND_LATER = {
  Query: /^Key attributes must be scalars/,
  Scan: /^(Key attributes must be scalars|The provided starting key is invalid: )/,
} as const

type Body = Readonly<Record<string, unknown>>

interface Place {
  readonly engine: WireEngine
  readonly table: Table
  readonly wire: WireTable
}

/** A query or scan, also of an index that holds only some attributes, and with what it costs. */
export async function performPage(
  { engine, table, wire }: Place,
  action: 'Query' | 'Scan',
  { request, body }: { readonly request: ItemRequest; readonly body: Body },
): Promise<object> {
  const index = wire.indexes.find((each) => each.IndexName === request.IndexName)
  const asked = forIndex(body, index)
  const contents = index && IndexContents.of(wire, index)
  const wantsWhole = request.Select === 'ALL_ATTRIBUTES'
  const answer = await performed(
    request,
    () => engine.perform(table, action, asked, WIRE),
    (fault) => {
      if (contents && wantsWhole && FOUND_LATER[action].test(fault.message))
        requireLocal(contents.index)
    },
  )
  if (contents && wantsWhole) requireLocal(contents.index)
  const narrowing = contents?.narrowing(asked)
  if (contents === undefined && !asksCapacity(request)) return answer
  const page = await wholePage(() => engine.perform(table, action, widened(action, asked), WIRE))
  return {
    ...answer,
    ...(!wantsWhole && narrowing?.answer(page, request)),
    ...capacityField(request, pageConsumed(request, page, { index, contents, narrowing })),
  }
}

interface Source {
  /** Undefined when the table itself is read. */
  readonly index: WireIndex | undefined
  /** Of an index that does not hold all attributes. */
  readonly contents: IndexContents | undefined
  readonly narrowing: Narrowing | undefined
}

function pageConsumed(
  { ConsistentRead: isConsistent = false, Select: select }: ItemRequest,
  page: readonly Item[],
  { index, contents, narrowing }: Source,
): Consumed {
  const table = pageUnits(page, isConsistent)
  if (index === undefined) return { table, indexes: [] }
  const { IndexName: name, scope } = index
  const held = contents === undefined ? page : page.map((item) => contents.narrowed(item))
  const isFetched = narrowing !== undefined && (select === 'ALL_ATTRIBUTES' || narrowing.fetches)
  return {
    table: isFetched ? table : 0,
    indexes: [{ name, scope, units: pageUnits(held, isConsistent) }],
  }
}

/** The parameters of old are named in what is said of them; `before` may refuse what DynamoDB refuses earlier. */
async function performed(
  request: ItemRequest,
  work: () => Promise<ActionAnswer>,
  before: (fault: AppError) => void,
): Promise<ActionAnswer> {
  try {
    return await work()
  } catch (fault) {
    if (!(fault instanceof AppError)) throw fault
    before(fault)
    if (!asksIndexable(request) && fault.message.endsWith('does not match schema type')) {
      throw validationFault('Attempted conditional constraint is not an indexable operation')
    }
    const message = asQuery(namedOfOld(fault.message, request), request)
    throw message === fault.message ? fault : validationFault(message)
  }
}

/** Names the parameters of old that only the translation made into expressions. */
function namedOfOld(message: string, request: ItemRequest): string {
  const attributes =
    request.AttributesToGet === undefined
      ? message
      : message.replace(
          /^Cannot specify the ProjectionExpression/,
          'One or more parameter values were invalid: Cannot specify the AttributesToGet',
        )
  return request.QueryFilter === undefined
    ? attributes
    : attributes.replace(/^Filter Expression can only/, 'QueryFilter can only')
}

/** Of a query, DynamoDB counts this fault as one of the request's shape; of a scan it does not. */
const asQuery = (message: string, request: ItemRequest): string =>
  isQuery(request)
    ? message.replace(
        /^(?=Cannot specify the ProjectionExpression)/,
        '1 validation error detected: ',
      )
    : message

const isQuery = (request: ItemRequest): boolean =>
  request.KeyConditionExpression !== undefined || request.KeyConditions !== undefined

/** A local index can be read consistently, and with the attributes that it does not hold. */
function forIndex(body: Body, index: WireIndex | undefined): Body {
  if (index?.scope !== 'local') return body
  const { ConsistentRead: _consistent, ...asked } = body
  return asked
}

/** Only a local index fetches attributes that it does not hold. */
function requireLocal(index: WireIndex): void {
  if (index.scope === 'local') return
  throw validationFault(
    'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ' +
      `${index.IndexName} because its projection type is not ALL`,
  )
}

/** The same page, with all of its items whole. */
function widened(action: 'Query' | 'Scan', body: Body): Body {
  const wide = Object.fromEntries(
    Object.entries(body).filter(([name]) => !NARROWING.some((each) => each === name)),
  )
  const text = body['KeyConditionExpression']
  if (action === 'Scan' || typeof text !== 'string') return wide
  return {
    ...wide,
    ...mentioned('ExpressionAttributeNames', body, text),
    ...mentioned('ExpressionAttributeValues', body, text),
  }
}

async function wholePage(work: () => Promise<ActionAnswer>): Promise<readonly Item[]> {
  const { Items: items } = await work()
  return Array.isArray(items) ? (items as Item[]) : []
}
