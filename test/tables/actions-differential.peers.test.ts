import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type DynamoDbWire, startDynamoDbWire } from '#test/dynamodb-wire.ts'
import { openDatabase } from '#test/postgres.ts'
import { SHARE } from '#test/share.ts'

import { itemRequest, queryRequest, scanRequest } from './action-arbitraries.ts'
import { judgePage, judgeWrite, mayKill } from './action-judge.ts'
import { ACTION_TABLES, actionSchema, type ActionTable } from './action-tables.ts'
import type { TableRequest } from './answer.ts'
import { BothSides, type Way } from './both-sides.ts'
import { type Endpoint, endpointAt } from './endpoint.ts'
import { mistyped, ruleBreaking } from './malformed-requests.ts'
import { type Oracle, startOracle } from './oracle.ts'
import { creationRequest } from './tables.ts'

/** Another seed asks other questions: `CROFT_ORACLE_SEED=1`. */
const SEED = Number(process.env['CROFT_ORACLE_SEED'] ?? 20_261_122)
/** Each kind of table this many times: their requests are in flight at once, those of one table never. */
const COPIES = 2
/** Of the requests that were answered otherwise, if there are any. */
const SHOWN = 3
/** Of each kind the first tenth, or all of them with `npm run test:nightly`. */
const ALL_REQUESTS = 20_000
/** To each table. */
const REQUESTS = {
  items: 950 * SHARE,
  queries: 380 * SHARE,
  scans: 190 * SHARE,
  rules: 120 * SHARE,
  types: 60 * SHARE,
}

const running = new AsyncDisposableStack()
const faults: unknown[] = []
const counts = new Map<string, number>()
const unexplained: object[] = []
const sides: BothSides[] = []
let oracle: Oracle
let wire: DynamoDbWire
let overWire: Endpoint

beforeAll(async () => {
  oracle = running.use(await startOracle())
  const { database, ...rest } = await openDatabase({ poolSize: 12 })
  running.use(rest)
  const onFault = (fault: unknown) => faults.push(fault)
  wire = running.use(await startDynamoDbWire({ database, onFault, transitionMs: 0 }))
  overWire = running.use(endpointAt(Number(new URL(wire.endpoint).port)))
  for (const { kind, copy } of tables) sides.push(await create(kind, copy))
}, 120_000)

afterAll(async () => {
  await running.disposeAsync()
})

const tables = (Object.keys(ACTION_TABLES) as ActionTable[]).flatMap((kind) =>
  Array.from({ length: COPIES }, (_each, copy) => ({ kind, copy })),
)

describe('the six actions, beside dynalite', () => {
  test('give the same answers', { timeout: 540_000 }, async () => {
    await Promise.all(sides.map((each, at) => askAll(each, SEED + at)))
    expect(faults).toEqual([])
    expect(unexplained.slice(0, SHOWN)).toEqual([])
  })

  test('and differ only where dynalite is known to be no DynamoDB', () => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    expect(total).toBeGreaterThanOrEqual(ALL_REQUESTS * SHARE)
    const alike = (counts.get('same') ?? 0) + (counts.get('refused') ?? 0)
    expect(alike / total, JSON.stringify(Object.fromEntries(counts))).toBeGreaterThan(0.85)
  })
})

async function askAll(sides: BothSides, seed: number): Promise<void> {
  for (const { request, way } of requestsFor(sides, seed)) {
    if (mayKill(request)) {
      count('not-asked')
      continue
    }
    const judge = request.action === 'Query' || request.action === 'Scan' ? judgePage : judgeWrite
    const { verdict, story } = await judge(sides, request, way)
    count(verdict ?? 'unexplained')
    if (verdict === undefined) unexplained.push({ table: sides.name, ...story })
  }
}

interface Question {
  readonly request: TableRequest
  readonly way: Way
}

/** All kinds of requests, mixed; half of them over the wire. */
function requestsFor({ schema }: BothSides, seed: number): readonly Question[] {
  const items = itemRequest(schema)
  const queries = queryRequest(schema)
  const scans = scanRequest(schema)
  const any = fc.oneof(items, items, queries, scans)
  const ways = fc.constantFrom<Way>('wire', 'engine')
  const sample = (each: fc.Arbitrary<TableRequest>, numRuns: number, way = ways): Question[] =>
    fc.sample(fc.record({ request: each, way }), { seed, numRuns: Math.ceil(numRuns) })
  const all = [
    ...sample(items, REQUESTS.items),
    ...sample(queries, REQUESTS.queries),
    ...sample(scans, REQUESTS.scans),
    ...sample(ruleBreaking(any), REQUESTS.rules),
    // Only the wire has JSON types.
    ...sample(mistyped(any), REQUESTS.types, fc.constant('wire')),
  ]
  const places = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), {
    seed,
    numRuns: all.length,
  })
  return all
    .map((question, at) => ({ question, place: places[at] ?? 0 }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ question }) => question)
}

async function create(kind: ActionTable, copy: number): Promise<BothSides> {
  const name = `${kind}-${copy}`
  const schema = actionSchema(kind)
  const creation = creationRequest(name, schema)
  for (const endpoint of [oracle, overWire]) {
    expect(await endpoint.call('CreateTable', creation)).toMatchObject({ ok: true })
    await vi.waitFor(
      async () =>
        expect([faults, await endpoint.call('DescribeTable', { TableName: name })]).toMatchObject([
          [],
          { body: { Table: { TableStatus: 'ACTIVE' } } },
        ]),
      { timeout: 30_000 },
    )
  }
  const table = wire.tableOf(name)
  return new BothSides({ table, name, oracle, wire: overWire, engine: wire.engine })
}

function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}
