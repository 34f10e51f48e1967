import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import type { AttributeValue, Item } from '#runtime/tables/items/attribute-value.ts'

import { differenceOfActions } from './action-differences.ts'
import type { Action, Answer, TableRequest } from './answer.ts'
import { comparable } from './comparable.ts'
import {
  mayKillOracle,
  type Difference,
  differenceOfMessages,
  differencesOf,
} from './known-differences.ts'
import { type Oracle, startOracle } from './oracle.ts'
import { PureTables } from './pure-tables.ts'
import {
  PARTITIONS,
  queryRequest,
  scanRequest,
  writeCase,
  type WriteCase,
} from './request-arbitraries.ts'
import { creationOf, type TableName, TABLES } from './tables.ts'
import { attributes } from './value-arbitraries.ts'

/** Another seed asks other questions: `CROFT_ORACLE_SEED=1`. */
const SEED = Number(process.env['CROFT_ORACLE_SEED'] ?? 20_261_122)
const CASES_AT_ONCE = 20
const SORT_KEYS = {
  rows: ['0', '1', '2', '-1', '1.5', '10', '-10', '0.1', '100'].map((N) => ({ N })),
  texts: ['a', 'ab', 'abc', 'b', 'ba', 'é', 'z'].map((S) => ({ S })),
  bytes: ['AA==', 'AAE=', 'YWI=', 'YWJj', '/w=='].map((B) => ({ B })),
} as const satisfies Partial<Record<TableName, readonly AttributeValue[]>>

let oracle: Oracle
const ours = new PureTables()
const counts = new Map<Difference | 'same' | 'refused', number>()
let serial = 0

beforeAll(async () => {
  oracle = await startOracle()
  for (const name of Object.keys(TABLES) as TableName[]) await create(name)
  const items = fc.sample(attributes, { seed: SEED, numRuns: 40 })
  await put(
    'pool',
    items.slice(0, 20).map((item, index) => ({ ...item, pk: { S: `p${index}` } })),
  )
  for (const name of ['rows', 'texts', 'bytes'] as const) {
    const keys = SORT_KEYS[name]
    await put(
      name,
      keys.map((sk, index) => ({ ...items[20 + index], pk: PARTITIONS[name], sk })),
    )
  }
})

afterAll(async () => {
  await oracle[Symbol.asyncDispose]()
})

describe('expressions, beside dynalite', () => {
  test('write and read single items with the same results', { timeout: 240_000 }, async () => {
    await expect(everyBatch(writeCase, 150, compareWrite)).resolves.toBeUndefined()
  })

  test('filter and project scans with the same results', { timeout: 240_000 }, async () => {
    await expect(everyBatch(scanRequest, 75, compareRead)).resolves.toBeUndefined()
  })

  test('answer queries with the same results', { timeout: 240_000 }, async () => {
    await expect(everyBatch(queryRequest, 75, compareRead)).resolves.toBeUndefined()
  })

  test('differ only where the oracle is known to be no DynamoDB', () => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    expect(total).toBeGreaterThanOrEqual(6000)
    const alike = (counts.get('same') ?? 0) + (counts.get('refused') ?? 0)
    expect(alike / total, JSON.stringify(Object.fromEntries(counts))).toBeGreaterThan(0.8)
  })
})

function everyBatch<Case>(
  arbitrary: fc.Arbitrary<Case>,
  numRuns: number,
  compare: (each: Case) => Promise<void>,
): Promise<void> {
  const batch = fc.array(arbitrary, { minLength: CASES_AT_ONCE, maxLength: CASES_AT_ONCE })
  const property = fc.asyncProperty(batch, async (cases) => {
    await Promise.all(cases.map(compare))
  })
  return fc.assert(property, { seed: SEED, numRuns, endOnFailure: true })
}

async function compareWrite({ stored, request }: WriteCase): Promise<void> {
  serial += 1
  const key = { pk: { S: `k${serial}` }, sk: { N: '1' } }
  if (stored !== undefined) await put('rows', [{ ...stored, ...key }])
  const body = bodyFor(request, key)
  const before = ours.find(body)
  if (mayKillOracle(boundOrNothing(request.action, body))) return count('not-asked')
  const expected = ours.call(request.action, body)
  const actual = await oracle.call(request.action, body)
  judge({ ...request, body }, expected, actual, [before])
  if (!actual.ok || !expected.ok) return
  // What the answer did not show is compared in the item itself.
  const look = { TableName: 'rows', Key: key }
  judge({ ...request, body }, ours.call('GetItem', look), await oracle.call('GetItem', look), [
    before,
  ])
}

async function compareRead(request: TableRequest): Promise<void> {
  if (mayKillOracle(boundOrNothing(request.action, request.body))) return count('not-asked')
  const expected = ours.call(request.action, request.body)
  const actual = await oracle.call(request.action, request.body)
  judge(request, expected, actual, ours.all(request.body))
}

function bodyFor({ action, body }: TableRequest, key: Item): TableRequest['body'] {
  const item = body['Item']
  if (action !== 'PutItem' || typeof item !== 'object')
    return { TableName: 'rows', Key: key, ...body }
  return { TableName: 'rows', ...body, Item: { ...item, ...key } }
}

function judge(
  request: TableRequest,
  expected: Answer,
  actual: Answer,
  items: readonly (Item | undefined)[],
): void {
  const order = request.action === 'Scan' ? 'any' : 'given'
  const [left, right] = [comparable(expected, order), comparable(actual, order)]
  if (left === right) {
    count(expected.ok ? 'same' : 'refused')
    return
  }
  const difference =
    differenceOfMessages(expected, actual) ??
    differenceOfActions(request, expected, actual) ??
    differencesAt(request, items)
  const story = JSON.stringify({ request, items: items.length < 5 ? items : '…' }, null, 1)
  if (difference === undefined) expect(`ours ${left}`, story).toBe(`theirs ${right}`)
  else count(difference)
}

/** A difference of what happened can only be one that these expressions and items make possible. */
function differencesAt(
  request: TableRequest,
  items: readonly (Item | undefined)[],
): Difference | undefined {
  return differencesOf(boundOrNothing(request.action, request.body), items)[0]
}

function boundOrNothing(action: Action, body: TableRequest['body']): BoundExpressions {
  try {
    return ours.bind(action, body)
  } catch {
    return {}
  }
}

function count(what: Difference | 'same' | 'refused'): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

async function create(name: TableName): Promise<void> {
  expect(await oracle.call('CreateTable', creationOf(name))).toMatchObject({ ok: true })
  const active = { body: { Table: { TableStatus: 'ACTIVE' } } }
  await vi.waitFor(
    async () =>
      expect(await oracle.call('DescribeTable', { TableName: name })).toMatchObject(active),
    { timeout: 30_000 },
  )
}

async function put(
  name: TableName,
  items: readonly Record<string, AttributeValue>[],
): Promise<void> {
  for (const Item of items) {
    const body = { TableName: name, Item }
    expect(ours.call('PutItem', body)).toEqual({ ok: true, body: {} })
    expect(await oracle.call('PutItem', body)).toEqual({ ok: true, body: {} })
  }
}
