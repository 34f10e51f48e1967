import { AppError } from '#base/app-error.ts'
import { WIRE } from '#runtime/tables/codec.ts'
import type { ActionAnswer, TableEngine } from '#runtime/tables/engine.ts'
import { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { matches } from '#runtime/tables/expressions/matches.ts'
import { project } from '#runtime/tables/expressions/project.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { readWireValue } from '#runtime/tables/items/wire-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { asksCapacity, capacityField, type Consumed, pageUnits } from './capacity.ts'
import type { ItemRequest } from './item-request.ts'
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
const FILTERS = ['FilterExpression', 'ProjectionExpression'] as const
/** What DynamoDB finds only after it found that an index does not hold all attributes. */
const FOUND_LATER = {
  Query: /^Key attributes must be scalars/,
  Scan: /^(Key attributes must be scalars|The provided starting key is invalid: )/,
} as const
const expressions = new Expressions()

type Body = Readonly<Record<string, unknown>>

interface Place {
  readonly engine: TableEngine
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
  const attributes = index && projectedAttributes(wire, index)
  const wantsWhole = request.Select === 'ALL_ATTRIBUTES'
  const answer = await performed(
    request,
    () => engine.perform(table, action, asked, WIRE),
    (fault) => {
      if (attributes && wantsWhole && FOUND_LATER[action].test(fault.message)) requireLocal(index)
    },
  )
  if (attributes && wantsWhole) requireLocal(index)
  if (attributes === undefined && !asksCapacity(request)) return answer
  const page = await wholePage(() => engine.perform(table, action, widened(action, asked), WIRE))
  const held = page.map((item) => narrowedTo(item, attributes))
  const isRefined = attributes !== undefined && !wantsWhole
  return {
    ...answer,
    ...(isRefined && refined(held, request, body)),
    ...capacityField(request, pageConsumed(request, { page, held, index, isRefined })),
  }
}

interface ReadItems {
  readonly page: readonly Item[]
  /** The same, with what the index holds of them. */
  readonly held: readonly Item[]
  readonly index: WireIndex | undefined
  /** Of its attributes only those that the index holds were asked for. */
  readonly isRefined: boolean
}

function pageConsumed(
  { ConsistentRead: isConsistent = false }: ItemRequest,
  { page, held, index, isRefined }: ReadItems,
): Consumed {
  const table = pageUnits(page, isConsistent)
  if (index === undefined) return { table }
  const { IndexName: name, scope } = index
  const isFetched = !isRefined && index.Projection.ProjectionType !== 'ALL'
  return {
    table: isFetched ? table : 0,
    index: { name, scope, units: pageUnits(held, isConsistent) },
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
    if (request.QueryFilter === undefined) throw fault
    throw validationFault(
      fault.message.replace(/^Filter Expression can only/, 'QueryFilter can only'),
    )
  }
}

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

/** Undefined when the index holds all attributes. */
function projectedAttributes(
  table: WireTable,
  { KeySchema: keys, Projection: projection }: WireIndex,
): ReadonlySet<string> | undefined {
  if (projection.ProjectionType === 'ALL') return undefined
  return new Set([
    ...[...table.keySchema, ...keys].map((key) => key.AttributeName),
    ...(projection.NonKeyAttributes ?? []),
  ])
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

function mentioned(field: string, body: Body, text: string): Body {
  const given = body[field]
  if (typeof given !== 'object' || given === null) return {}
  const used = Object.entries(given).filter(([name]) =>
    new RegExp(`${name}(?![A-Za-z0-9_])`).test(text),
  )
  return used.length === 0 ? {} : { [field]: Object.fromEntries(used) }
}

async function wholePage(work: () => Promise<ActionAnswer>): Promise<readonly Item[]> {
  const { Items: items } = await work()
  return Array.isArray(items) ? (items as Item[]) : []
}

function narrowedTo(item: Item, attributes: ReadonlySet<string> | undefined): Item {
  if (attributes === undefined) return item
  return Object.fromEntries(Object.entries(item).filter(([name]) => attributes.has(name)))
}

/** Filter and projection, applied to what an index holds of the items. */
function refined(items: readonly Item[], { Select: select }: ItemRequest, body: Body): Body {
  const texts = FILTERS.map((name) => body[name]).filter((text) => typeof text === 'string')
  const all = texts.join(' ')
  const given = Object.fromEntries(FILTERS.map((name) => [name, body[name]]))
  const bound = expressions.bind(
    {
      ...given,
      ...mentioned('ExpressionAttributeNames', body, all),
      ...mentioned('ExpressionAttributeValues', body, all),
    },
    {
      parameters: ['ProjectionExpression', 'FilterExpression'],
      readValue: (input) => readWireValue(input),
    },
  )
  const { filter, projection } = bound
  const kept = items.filter((item) => filter === undefined || matches(filter.condition, item))
  const shown = projection === undefined ? kept : kept.map((item) => project(projection, item))
  return { Count: kept.length, ...(select !== 'COUNT' && { Items: shown }) }
}
