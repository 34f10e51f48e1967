import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const RUNS = 250
/** In every item of the other visitor, and nowhere else. */
const MARK = 'belongs-to-bob'
const S = (name: string) => ({ name, type: 'S' })
const OPEN = {
  'ddb.get': ['key', 'projectionExpression', 'expressionAttributeNames', 'consistentRead'],
  'ddb.put': [
    'item',
    'conditionExpression',
    'expressionAttributeNames',
    'expressionAttributeValues',
    'returnValues',
  ],
  'ddb.update': [
    'key',
    'updateExpression',
    'conditionExpression',
    'expressionAttributeNames',
    'expressionAttributeValues',
    'returnValues',
  ],
  'ddb.delete': [
    'key',
    'conditionExpression',
    'expressionAttributeNames',
    'expressionAttributeValues',
    'returnValues',
  ],
  'ddb.query': [
    'keyConditionExpression',
    'filterExpression',
    'projectionExpression',
    'expressionAttributeNames',
    'expressionAttributeValues',
    'indexName',
    'limit',
    'scanIndexForward',
    'select',
    'nextToken',
  ],
  'ddb.scan': [
    'filterExpression',
    'projectionExpression',
    'expressionAttributeNames',
    'expressionAttributeValues',
    'indexName',
    'limit',
    'select',
    'nextToken',
  ],
} as const

let stack: Stack
let site: RuntimeSite
let ann: string
let bob: string
let bobSub: string
const tableIds: Record<string, string> = {}

const subOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub

beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  ann = await stack.dataToken('one.test', { user: 'ann@visitors.test' })
  bob = await stack.dataToken('one.test', { user: 'bob@visitors.test' })
  bobSub = subOf(bob)
  const globalSecondaryIndexes = [
    { name: 'byTopic', partitionKey: S('topic') },
    { name: 'byUser', partitionKey: S('topic'), sortKey: S('userId') },
    { name: 'ofUser', partitionKey: S('userId') },
  ]
  const tables = {
    plain: { partitionKey: S('id'), globalSecondaryIndexes },
    parted: {
      partitionKey: S('userId'),
      sortKey: S('id'),
      globalSecondaryIndexes: globalSecondaryIndexes.slice(0, 2),
    },
    sorted: { partitionKey: S('id'), sortKey: S('userId') },
  }
  for (const [name, config] of Object.entries(tables)) {
    const made = await site.admin('POST', '/resources', { type: 'ddbTable', name, config })
    tableIds[name] = made.json.resourceId
    await Promise.all(
      Object.entries(OPEN).map(([preset, allowed]) =>
        site.putOperation(`${name}-${preset.slice(4)}`, {
          preset: { preset, resourceId: tableIds[name], allowed, owner: { attribute: 'userId' } },
        }),
      ),
    )
  }
  await site.synced()
  for (const table of Object.keys(tables)) {
    for (const id of ['a', 'b', 'c']) {
      const own = { id, topic: 't', mark: MARK, n: 1 }
      const { status, text } = await site.callAs(bob, `${table}-put`, { item: own })
      if (status !== 200) throw new Error(text)
    }
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Mostly what is allowed there, for what is refused at once proves little. */
const mostly = <Value>(usual: fc.Arbitrary<Value>, odd: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd })
const name = mostly(
  fc.constantFrom('mark', 'n', '#b', 'topic', 'id', 'userId', '#a'),
  fc.constantFrom('#croftOwner', 'userId.x', 'n[0]'),
)
const value = mostly(fc.constantFrom(':s', ':b', ':n', ':m', ':t'), fc.constant(':croftOwner'))
const atom = fc.oneof(
  fc
    .tuple(name, fc.constantFrom('=', '<>', '<', '>='), fc.oneof(name, value))
    .map((parts) => parts.join(' ')),
  fc
    .tuple(fc.constantFrom('attribute_exists', 'attribute_not_exists'), name)
    .map(([call, path]) => `${call}(${path})`),
  fc
    .tuple(fc.constantFrom('begins_with', 'contains'), name, value)
    .map(([call, path, part]) => `${call}(${path}, ${part})`),
  fc.tuple(name, value, value).map(([path, from, to]) => `${path} BETWEEN ${from} AND ${to}`),
)
const glue = mostly(
  fc.constantFrom(' AND ', ' OR ', ' AND NOT ', ' OR NOT '),
  fc.constantFrom(') OR (', ') AND (', ' OR NOT ('),
)
const condition = fc.oneof(
  { weight: 3, arbitrary: atom },
  fc.tuple(atom, glue, atom).map((parts) => parts.join('')),
  fc.tuple(atom, glue, atom).map((parts) => `(${parts.join('')})`),
)
const keyCondition = mostly(
  fc.constantFrom(
    'id = :s',
    'topic = :t',
    'topic = :t AND userId = :b',
    '#a = :b',
    'id = :s AND userId = :b',
    'begins_with(id, :s)',
    'id >= :s',
  ),
  condition,
)
const update = fc.oneof(
  fc.tuple(name, fc.oneof(name, value)).map(([path, to]) => `SET ${path} = ${to}`),
  name.map((path) => `REMOVE ${path}`),
  fc.tuple(fc.constantFrom('ADD', 'DELETE'), name, value).map((parts) => parts.join(' ')),
  fc.tuple(name, name, value).map(([first, second, to]) => `SET ${first} = ${to} REMOVE ${second}`),
)
const id = fc.constantFrom('a', 'b', 'c', 'd')
const user = fc.constantFrom('BOB', 'nobody')
const key = mostly<object>(
  fc.record({ id }),
  fc.record({ id, userId: user, Id: id }, { requiredKeys: [] }),
)
const item = fc.record(
  { id, userId: user, topic: fc.constant('t'), n: fc.integer() },
  { requiredKeys: ['id'] },
)
const ALL_VALUES = { ':s': 'a', ':b': 'BOB', ':n': 1, ':m': 'belongs', ':t': 't' }
const ALL_NAMES = { '#a': 'userId', '#b': 'mark', '#croftOwner': 'mark' }
const FIELDS = {
  key,
  item,
  conditionExpression: condition,
  filterExpression: condition,
  keyConditionExpression: keyCondition,
  updateExpression: update,
  projectionExpression: fc.constantFrom('mark', 'id, mark', 'userId', '#a'),
  returnValues: mostly(fc.constant('ALL_OLD'), fc.constantFrom('ALL_NEW', 'UPDATED_OLD')),
  returnValuesOnConditionCheckFailure: fc.constant('ALL_OLD'),
  indexName: mostly(fc.constantFrom('byTopic', 'byUser', 'ofUser'), fc.constant('none')),
  exclusiveStartKey: key,
  limit: fc.integer({ min: 1, max: 3 }),
  select: fc.constantFrom('ALL_ATTRIBUTES', 'COUNT'),
  nextToken: fc.constantFrom('x', 'eyJpZCI6ImEifQ'),
}
const isField = (name: string): name is keyof typeof FIELDS => name in FIELDS

/** A payload of one of the presets: mostly its own fields, sometimes any, in either spelling. */
function payloadOf(own: readonly string[], needed: readonly string[]): fc.Arbitrary<object> {
  const chosen = (names: readonly string[]) =>
    fc.record(
      Object.fromEntries(
        names.flatMap((field) => (isField(field) ? [[field, FIELDS[field]] as const] : [])),
      ),
    )
  const others = own.filter((field) => !needed.includes(field))
  const likely = fc.subarray(others, { maxLength: 2 }).chain((some) => chosen([...needed, ...some]))
  const stray = fc
    .record(FIELDS, { requiredKeys: [] })
    .map((all) => Object.fromEntries(Object.entries(all).slice(0, 1)))
  return fc
    .tuple(likely, fc.option(stray, { freq: 8, nil: {} }), fc.boolean(), fc.nat(9))
    .map(([usual, more, pascal, noise]) =>
      Object.fromEntries(
        Object.entries(withPlaceholders({ ...usual, ...more }, noise === 0)).map(
          ([field, content]) => [
            pascal ? field.charAt(0).toUpperCase() + field.slice(1) : field,
            content,
          ],
        ),
      ),
    )
}

/** With the names and values that its expressions use, for unused ones are refused; or with all of them. */
function withPlaceholders(payload: object, all: boolean): object {
  const texts = Object.entries(payload).flatMap(([field, text]) =>
    field.endsWith('Expression') ? [String(text)] : [],
  )
  const used = new Set(texts.join(' ').match(/[#:]\w+/g))
  const picked = (from: object) =>
    Object.fromEntries(Object.entries(from).filter(([placeholder]) => all || used.has(placeholder)))
  const [names, values] = [picked(ALL_NAMES), picked(ALL_VALUES)]
  return {
    ...payload,
    ...(Object.keys(names).length === 0 ? {} : { expressionAttributeNames: names }),
    ...(Object.keys(values).length === 0 ? {} : { expressionAttributeValues: values }),
  }
}

const NEEDED: Record<string, readonly string[]> = {
  'ddb.get': ['key'],
  'ddb.put': ['item'],
  'ddb.update': ['key', 'updateExpression'],
  'ddb.delete': ['key'],
  'ddb.query': ['keyConditionExpression'],
  'ddb.scan': [],
}
const attempt = fc
  .tuple(fc.constantFrom('plain', 'parted', 'sorted'), fc.constantFrom(...Object.entries(OPEN)))
  .chain(([table, [preset, allowed]]) =>
    fc.tuple(fc.constant(`${table}-${preset.slice(4)}`), payloadOf(allowed, NEEDED[preset] ?? [])),
  )

/** Everything of Bob's in the three tables, as an admin sees it. */
async function bobsItems(): Promise<unknown[]> {
  const found = await Promise.all(
    Object.values(tableIds).map(async (tableId) => {
      const { json } = await site.admin('POST', `/resources/${tableId}/data/ddb/scan`, {})
      return json.items.filter(({ userId }: { userId: unknown }) => userId === bobSub)
    }),
  )
  return found.map((items) => JSON.stringify(items))
}

describe('with an owner preset', () => {
  test('no payload of one visitor reads or changes an item of another', async () => {
    const before = await bobsItems()
    expect(before.join('').match(new RegExp(MARK, 'g'))).toHaveLength(9)
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(attempt, async ([operation, payload]) => {
        const sent = JSON.parse(JSON.stringify(payload).replaceAll('BOB', bobSub))
        const answer = await site.callAs(ann, operation, sent)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        expect([200, 400, 409]).toContain(answer.status)
        const { item: one, items = [], attributes, count = items.length } = answer.json.data ?? {}
        const shown = [one, attributes, ...items].filter((each) => each)
        expect(shown.filter((each) => each.userId === bobSub)).toEqual([])
        expect(answer.text).not.toContain(MARK)
        expect(count).toBeLessThanOrEqual(4)
      }),
      { numRuns: RUNS },
    )
    expect(await bobsItems()).toEqual(before)
    // Each kind of outcome was met, so the attempts were more than noise.
    expect(statuses.get(200)).toBeGreaterThan(RUNS / 20)
    expect(statuses.get(409)).toBeGreaterThan(0)
  }, 60_000)
})
