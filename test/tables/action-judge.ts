import { type BoundExpressions, Expressions } from '#runtime/tables/expressions/expressions.ts'
import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'
import { compareValues } from '#runtime/tables/items/order.ts'
import { bindWire, type ExpressionParameter } from '#test/dynamodb-wire/expression-texts.ts'

import { differenceOfActions, differenceOfWrites } from './action-differences.ts'
import { queriedSchema } from './action-tables.ts'
import type { Action, Answer, TableRequest } from './answer.ts'
import type { BothSides, Way } from './both-sides.ts'
import { comparable } from './comparable.ts'
import {
  type Difference,
  differenceOfMessages,
  differencesOf,
  mayKillOracle,
} from './known-differences.ts'

type Verdict = Difference | 'same' | 'refused'
type Body = TableRequest['body']

const PARAMETERS: Readonly<Record<Action, readonly ExpressionParameter[]>> = {
  GetItem: ['ProjectionExpression'],
  PutItem: ['ConditionExpression'],
  UpdateItem: ['UpdateExpression', 'ConditionExpression'],
  DeleteItem: ['ConditionExpression'],
  Query: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
  Scan: ['ProjectionExpression', 'FilterExpression'],
}
const SUBSTITUTIONS = ['ExpressionAttributeNames', 'ExpressionAttributeValues']
const expressions = new Expressions()

/** The expressions of a request, as far as they can be read; those that its action does not take are not looked at. */
function boundOrNothing({ action, body }: TableRequest): BoundExpressions {
  const parameters = PARAMETERS[action]
  const read = new Set<string>([...parameters, ...SUBSTITUTIONS])
  try {
    return bindWire(
      expressions,
      Object.fromEntries(Object.entries(body).filter(([name]) => read.has(name))),
      parameters,
    )
  } catch {
    return {}
  }
}

/** Whether dynalite may die of a request, also of one that we refuse for another of its expressions. */
export const mayKill = (request: TableRequest): boolean =>
  PARAMETERS[request.action].some((parameter) => {
    const text = request.body[parameter]
    return (
      typeof text === 'string' && mayKillOracle(boundOrNothing(alone(request, parameter, text)))
    )
  })

function alone({ action, body }: TableRequest, parameter: string, text: string): TableRequest {
  const used = new Set(text.match(/[#:]\w+/g))
  const substitutions = SUBSTITUTIONS.flatMap((name) => {
    const mentioned = Object.entries(body[name] ?? {}).filter(([placeholder]) =>
      used.has(placeholder),
    )
    return mentioned.length === 0 ? [] : [[name, Object.fromEntries(mentioned)]]
  })
  return { action, body: { [parameter]: text, ...Object.fromEntries(substitutions) } }
}

/** Sends a request about one item to both sides; undefined when their answers differ without an explanation. */
export async function judgeWrite(
  sides: BothSides,
  request: TableRequest,
  way: Way,
): Promise<{ readonly verdict: Verdict | undefined; readonly story: object }> {
  const bound = boundOrNothing(request)
  const canDiffer = bound.update !== undefined || bound.condition !== undefined
  const before = canDiffer ? await sides.stored(request) : undefined
  const [ours, theirs] = await Promise.all([sides.ours(request, way), sides.theirs(request)])
  const verdict =
    sameOrRefused(ours, theirs) ??
    differenceOfAnswers(request, ours, theirs) ??
    differenceOfWrites(bound, before, { ours, theirs })
  const couldDiffer = differencesOf(bound, [before]).length > 0
  if ((verdict !== 'same' && verdict !== 'refused') || couldDiffer) await sides.mend(request)
  return { verdict, story: { way, request, before, ours, theirs } }
}

/** The same for one page, whose order is compared where DynamoDB promises one. */
export async function judgePage(
  sides: BothSides,
  request: TableRequest,
  way: Way,
): Promise<{ readonly verdict: Verdict | undefined; readonly story: object }> {
  const [ours, theirs] = await Promise.all([sides.ours(request, way), sides.theirs(request)])
  const story = { way, request, ours, theirs }
  if (!ours.ok || !theirs.ok) {
    const verdict = sameOrRefused(ours, theirs) ?? differenceOfAnswers(request, ours, theirs)
    return { verdict, story }
  }
  const page = isOrdered(sides, request)
    ? (sameOrRefused(ours, theirs) ?? (await filterDifference(sides, request, way)))
    : 'same'
  if (page !== 'same' || !needsWalk(sides, request)) return { verdict: page, story }
  return { verdict: await judgeWhole(sides, request, way), story }
}

/** One page that is all of a table's query says all there is to say. */
const needsWalk = (sides: BothSides, request: TableRequest): boolean =>
  !isOrdered(sides, request) || request.body['Limit'] !== undefined

function sameOrRefused(ours: Answer, theirs: Answer): 'same' | 'refused' | undefined {
  if (ours.ok && theirs.ok) {
    return comparable(ours, 'given') === comparable(theirs, 'given') ? 'same' : undefined
  }
  if (ours.ok || theirs.ok) return undefined
  const isSame = ours.message === theirs.message && kindOf(ours.type) === kindOf(theirs.type)
  return isSame ? 'refused' : undefined
}

/** The engine has no JSON types to check and calls all that it cannot read invalid. */
const kindOf = (type: string): string =>
  type === 'SerializationException' ? 'ValidationException' : type

const differenceOfAnswers = (
  request: TableRequest,
  ours: Answer,
  theirs: Answer,
): Difference | undefined =>
  differenceOfMessages(ours, theirs) ?? differenceOfActions(request, ours, theirs)

/** Only a query of a table, whose sort keys are unique, has one order. */
const isOrdered = ({ schema }: BothSides, { action, body }: TableRequest): boolean =>
  action === 'Query' && queriedSchema(schema, body['IndexName']) === schema

/**
 * A page of a filter: asked again without what hides items, both sides have to show the same except for items that the filter is
 * known to judge otherwise.
 */
async function filterDifference(
  sides: BothSides,
  request: TableRequest,
  way: Way,
): Promise<Difference | undefined> {
  const { filter } = boundOrNothing(request)
  if (filter === undefined) return undefined
  const wide = { action: request.action, body: withoutProjection(request.body) }
  const [ours, theirs] = await Promise.all([sides.ours(wide, way), sides.theirs(wide)])
  if (!ours.ok || !theirs.ok) return undefined
  return explained(itemsOf(ours), itemsOf(theirs), { filter })
}

/** The differences of what was found, if each single one is explained. */
function explained(
  ours: readonly Item[],
  theirs: readonly Item[],
  bound: BoundExpressions,
): Difference | undefined {
  const [one, other] = [textsOf(ours), textsOf(theirs)]
  const odd = [
    ...ours.filter((item) => !other.has(textOf(item))),
    ...theirs.filter((item) => !one.has(textOf(item))),
  ]
  const reasons = odd.map((item) => differencesOf(bound, [item])[0])
  return reasons.includes(undefined) ? undefined : reasons[0]
}

function withoutProjection(body: Body): Body {
  const { ProjectionExpression: _projection, Select: _select, ...rest } = body
  const texts = ['FilterExpression', 'KeyConditionExpression'].map((name) => String(rest[name]))
  const used = (field: string): Body => {
    const entries = Object.entries(Object(rest[field]) as Body).filter(([name]) =>
      texts.some((text) => new RegExp(`${name}(?![A-Za-z0-9_])`).test(text)),
    )
    return entries.length === 0 ? {} : { [field]: Object.fromEntries(entries) }
  }
  const { ExpressionAttributeNames: _names, ExpressionAttributeValues: _values, ...plain } = rest
  return { ...plain, ...used('ExpressionAttributeNames'), ...used('ExpressionAttributeValues') }
}

/**
 * Pages of a scan or of an index come in an order of each side's own, and segments divide a table elsewhere: all that is
 * found page by page, in all segments, is compared with all that dynalite finds at once.
 */
async function judgeWhole(
  sides: BothSides,
  request: TableRequest,
  way: Way,
): Promise<Verdict | undefined> {
  const whole = { action: request.action, body: withoutPlace(request.body) }
  const all = { action: request.action, body: withoutLimit(whole.body) }
  const [ours, theirs] = await Promise.all([
    allSegments(whole, segmentsOf(request), (page) => sides.ours(page, way)),
    allPages(all, (page) => sides.theirs(page)),
  ])
  if (ours === undefined || theirs === undefined) return undefined
  if (!isInOrder(ours.items, sides, request)) return undefined
  if (ours.scanned !== theirs.scanned) return undefined
  if (ours.count === theirs.count && sameItems(ours.items, theirs.items)) return 'same'
  return filterDifference(sides, all, way)
}

function withoutPlace(body: Body): Body {
  const {
    ExclusiveStartKey: _start,
    Segment: _segment,
    TotalSegments: _totalSegments,
    ...rest
  } = body
  return rest
}

/** What a scan asks for to read the whole: the fields of each segment. */
function segmentsOf({ action, body: { TotalSegments } }: TableRequest): readonly Body[] {
  if (action !== 'Scan' || typeof TotalSegments !== 'number') return [{}]
  return Array.from({ length: TotalSegments }, (_each, Segment) => ({ Segment, TotalSegments }))
}

async function allSegments(
  { action, body }: TableRequest,
  segments: readonly Body[],
  ask: (page: TableRequest) => Promise<Answer>,
): Promise<Pages | undefined> {
  let all: Pages = { items: [], count: 0, scanned: 0 }
  for (const segment of segments) {
    const pages = await allPages({ action, body: { ...body, ...segment } }, ask)
    if (pages === undefined) return undefined
    all = {
      items: [...all.items, ...pages.items],
      count: all.count + pages.count,
      scanned: all.scanned + pages.scanned,
    }
  }
  return all
}

const withoutLimit = ({ Limit: _limit, ...body }: Body): Body => body

interface Pages {
  readonly items: readonly Item[]
  readonly count: number
  readonly scanned: number
}

/** Undefined when a page is not what was asked for. */
async function allPages(
  { action, body }: TableRequest,
  ask: (page: TableRequest) => Promise<Answer>,
): Promise<Pages | undefined> {
  const limit = Number(body['Limit'] ?? Number.POSITIVE_INFINITY)
  const found: Item[] = []
  let [count, scanned] = [0, 0]
  let start: unknown
  do {
    const more = start === undefined ? {} : { ExclusiveStartKey: start }
    const page = await ask({ action, body: { ...body, ...more } })
    if (!page.ok) return undefined
    start = page.body['LastEvaluatedKey']
    const [of, seen] = [Number(page.body['Count']), Number(page.body['ScannedCount'])]
    if (of > seen || seen > limit || (start !== undefined && seen !== limit)) return undefined
    found.push(...itemsOf(page))
    count += of
    scanned += seen
  } while (start !== undefined)
  return { items: found, count, scanned }
}

/** Whether a query of an index gave its items by the index's sort key. */
function isInOrder(
  items: readonly Item[],
  { schema }: BothSides,
  { action, body }: TableRequest,
): boolean {
  const { sortKey } = queriedSchema(schema, body['IndexName'])
  if (action === 'Scan' || sortKey === undefined) return true
  const values = items.flatMap((item) => attributeOf(item, sortKey.name) ?? [])
  const direction = body['ScanIndexForward'] === false ? -1 : 1
  return values.every((value, at) => {
    const before = values[at - 1]
    return before === undefined || (compareValues(before, value) ?? 0) * direction <= 0
  })
}

const itemsOf = (answer: Answer): readonly Item[] =>
  answer.ok && Array.isArray(answer.body['Items']) ? (answer.body['Items'] as Item[]) : []

const sameItems = (ours: readonly Item[], theirs: readonly Item[]): boolean =>
  JSON.stringify([...ours].map(textOf).toSorted()) ===
  JSON.stringify([...theirs].map(textOf).toSorted())

const textsOf = (items: readonly Item[]): ReadonlySet<string> => new Set(items.map(textOf))

const textOf = (item: Item): string => comparable({ ok: true, body: item }, 'given')
