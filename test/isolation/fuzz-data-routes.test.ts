import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { RouteDeclaration } from '#http/route-declaration.ts'
import type { Answer } from '#test/http-client.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type CallOptions, type Stack, startStack } from '#test/stack.ts'

const AT_ONCE = 8
/** Coprime to how many strange values there are, so that each comes to each kind of place. */
const EVERY = 13
const DEEP = '['.repeat(120) + ']'.repeat(120)

/** Values that no client sends by mistake. */
const STRANGE: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  'a negative number': '-1',
  'a fraction': '0.5',
  'a huge number': '1e308',
  'a number beyond doubles': '1e999',
  'a number beyond integers': '9007199254740993',
  'an empty text': '""',
  'a word': '"x"',
  NUL: '"a\\u0000b"',
  'half a surrogate pair': '"a\\ud800"',
  'a line break': '"a\\r\\nb: c"',
  'a prototype': '"__proto__"',
  'a long text': `"${'x'.repeat(70_000)}"`,
  'a list': '[]',
  'a list of null': '[null]',
  'a list of lists': '[["a"]]',
  'an object': '{}',
  'an object of null': '{"a":null}',
  'an object with a prototype': '{"__proto__":{"a":1},"constructor":{"prototype":1}}',
  'an object with NUL in a name': '{"a\\u0000":"b"}',
  'an object with half a surrogate pair in a name': '{"\\udc00":"b"}',
  'an object with an empty name': '{"":""}',
  'a deep list': DEEP,
}

const WHOLE: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'half of it': '{"a',
  'a byte order mark': '\uFEFF{}',
  'no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'NUL bytes': Buffer.alloc(64),
  'a depth of 100 000': '['.repeat(100_000) + ']'.repeat(100_000),
  'a name twice': '{"key":{"id":"a"},"key":[],"name":1,"name":2}',
}

const PARTS = ['%00', '%ED%A0%80', '%', '%2e%2e%2f', '__proto__', 'constructor', 'x'.repeat(3000)]

const QUERIES = [
  'limit=0',
  'limit=1e9',
  'limit=%00',
  'limit[]=1',
  'nextToken=%00',
  'nextToken=%ED%A0%80',
  'nextToken=x&nextToken=y',
  `nextToken=${'A'.repeat(5000)}`,
  '__proto__=1&constructor=2',
]

const CONDITION = {
  conditionExpression: 'attribute_not_exists(#a) OR #a = :v',
  expressionAttributeNames: { '#a': 'a' },
  expressionAttributeValues: { ':v': { deep: [1, 'x', null] } },
}
const READ = { projectionExpression: '#a, b[0].c', expressionAttributeNames: { '#a': 'a' } }
const KEY = { id: 'a', at: 1 }

/** A valid body for each action on a table, by its last step. */
const TABLE_BODIES: Readonly<Record<string, object>> = {
  get: { key: KEY, ...READ, consistentRead: true },
  query: {
    indexName: 'byKind',
    keyConditionExpression: 'kind = :k AND #at BETWEEN :a AND :b',
    filterExpression: 'contains(title, :k)',
    expressionAttributeNames: { '#at': 'at' },
    expressionAttributeValues: { ':k': 'note', ':a': 0, ':b': 9 },
    select: 'ALL_PROJECTED_ATTRIBUTES',
    limit: 3,
    scanIndexForward: false,
    exclusiveStartKey: { ...KEY, kind: 'note' },
  },
  scan: {
    ...READ,
    filterExpression: 'size(id) > :n',
    expressionAttributeValues: { ':n': 0 },
    limit: 2,
    segment: 0,
    totalSegments: 2,
    exclusiveStartKey: KEY,
  },
  put: {
    item: { ...KEY, kind: 'note', list: [{ n: 1.5 }] },
    ...CONDITION,
    returnValues: 'ALL_OLD',
  },
  update: {
    key: KEY,
    updateExpression: 'SET #a = if_not_exists(#a, :v), n = :n + :n REMOVE old ADD hits :n',
    expressionAttributeNames: { '#a': 'a' },
    expressionAttributeValues: { ':v': [1], ':n': 1 },
    returnValues: 'UPDATED_NEW',
    returnValuesOnConditionCheckFailure: 'ALL_OLD',
  },
  delete: { key: KEY, ...CONDITION, returnValuesOnConditionCheckFailure: 'ALL_OLD' },
  'batch-get': { keys: [KEY, { id: 'b', at: 2 }], ...READ, consistentRead: false },
  'batch-write': {
    puts: [{ ...KEY, kind: 'x' }],
    deletes: [{ id: 'c', at: 1 }],
  },
  'transact-write': {
    actions: [
      { put: { item: { id: 't', at: 1 }, ...CONDITION } },
      { conditionCheck: { key: KEY, conditionExpression: 'attribute_exists(id)' } },
    ],
    clientRequestToken: 'once',
  },
}

const BUCKET_BODIES: Readonly<Record<string, object>> = {
  'list-objects': { prefix: 'a', delimiter: '/', maxKeys: 2, startAfter: 'a/0' },
  'get-object': { key: 'a/b', encoding: 'utf8', range: { start: 0, end: 3 } },
  'put-object': {
    key: 'a/b',
    body: 'body',
    encoding: 'utf8',
    contentType: 'text/plain',
    metadata: { colour: 'blue' },
  },
  'delete-object': { key: 'a/c' },
  'presign-get-object': { key: 'a/b', expiresInSeconds: 9, downloadName: 'b.txt' },
  'presign-put-object': {
    key: 'a/d',
    contentType: 'text/plain',
    sizeBytes: 1,
    expiresInSeconds: 9,
  },
}

const DEFINITION = {
  groups: [{ name: 'editors' }],
  resources: [
    {
      type: 'ddbTable',
      name: 'fuzzed',
      config: { partitionKey: { name: 'id', type: 'S' }, ttlAttribute: 'until' },
    },
    { type: 's3Bucket', name: 'fuzzedFiles', config: { maxObjectBytes: 1000 } },
    { type: 'lambdaFunction', name: 'fuzzedCode', config: { code: 'export default () => 1' } },
  ],
  envVars: [{ name: 'FUZZED', value: 'v', secret: true }],
  operations: [
    { operation: 'fuzzedEcho', preset: { preset: 'echo' }, auth: { mode: 'public' } },
    { operation: 'fuzzedCall', lambda: 'fuzzedCode', cache: { ttlSeconds: 3 } },
  ],
  jobs: [
    {
      jobId: 'fuzzedJob',
      operation: 'fuzzedEcho',
      payload: { a: 1 },
      schedule: { cron: '5 4 * * *', timezone: 'Europe/Berlin' },
      auth: { mode: 'system' },
    },
  ],
}

interface Names {
  readonly table: string
  readonly bucket: string
  readonly code: string
}

interface Seed {
  readonly path: string
  readonly body?: object
}

let stack: Stack
let site: RuntimeSite
let token: string
let seeds: ReadonlyMap<string, readonly Seed[]>
let routes: readonly RouteDeclaration[]

const nameOf = ({ method, path }: RouteDeclaration) => `${method} ${path.replace(/(?<=.)\/$/, '')}`

beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  token = await stack.adminToken('one.test')
  routes = stack.app.routes.filter(({ path }) => path.startsWith('/admin/data/'))
  seeds = seedsOf(await furnish())
}, 30_000)
afterAll(() => stack[Symbol.asyncDispose]())

async function furnish(): Promise<Names> {
  const create = async (body: object): Promise<string> =>
    (await site.admin('POST', '/resources', body)).json.resourceId
  const table = await create({
    type: 'ddbTable',
    name: 'notes',
    config: {
      partitionKey: { name: 'id', type: 'S' },
      sortKey: { name: 'at', type: 'N' },
      globalSecondaryIndexes: [
        {
          name: 'byKind',
          partitionKey: { name: 'kind', type: 'S' },
          sortKey: { name: 'at', type: 'N' },
          projection: { type: 'ALL' },
        },
      ],
    },
  })
  const bucket = await create({ type: 's3Bucket', name: 'files', config: {} })
  const code = await site.putFunction('code', 'export default () => 1')
  await site.putOperation('echo', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
  return { table, bucket, code }
}

function seedsOf({ table, bucket, code }: Names): Map<string, Seed[]> {
  const at = (path: string, ...bodies: object[]): Seed[] => bodies.map((body) => ({ path, body }))
  const resources = '/admin/data/resources'
  const all = new Map<string, Seed[]>([
    [
      `POST ${resources}`,
      at(resources, ...DEFINITION.resources.map((each) => ({ ...each, name: 'again' }))),
    ],
    [`PATCH ${resources}/:resourceId`, at(`${resources}/${code}`, { name: 'code', config: {} })],
    [
      'POST /admin/data/operations',
      at(
        '/admin/data/operations',
        { operation: 'a', lambdaResourceId: code, auth: { mode: 'groups', groups: ['editors'] } },
        {
          operation: 'b',
          preset: {
            preset: 'ddb.put',
            resourceId: table,
            fixed: { item: { kind: 'note' }, conditionExpression: 'attribute_not_exists(id)' },
            allowed: ['item'],
            owner: { attribute: 'owner' },
          },
          auth: { mode: 'authenticated' },
          cache: { ttlSeconds: 0 },
        },
        {
          operation: 'c',
          preset: { preset: 's3.list-objects', resourceId: bucket, owner: { prefix: 'up/' } },
        },
      ),
    ],
    ['POST /admin/data/operations/:operation', [{ path: '/admin/data/operations/echo' }]],
    ['POST /admin/data/reconcile', [{ path: '/admin/data/reconcile' }]],
    [
      'PUT /admin/data/env-vars',
      at('/admin/data/env-vars', {
        storageBackend: 'ssmString',
        variables: { NAME: { value: 'v', secret: false } },
      }),
    ],
    ['POST /admin/data/groups', at('/admin/data/groups', { groupName: 'g', description: 'd' })],
    [
      'PUT /admin/data/jobs/:jobId',
      at('/admin/data/jobs/daily', { ...DEFINITION.jobs[0], jobId: undefined, operation: 'echo' }),
    ],
    ['POST /admin/data/jobs/:jobId', at('/admin/data/jobs/nightly', { trigger: 'me' })],
    [
      'POST /admin/data/iac/jobs',
      at(
        '/admin/data/iac/jobs',
        { mode: 'plan', definition: DEFINITION, confirm: true },
        { mode: 'plan', definitionProfileName: 'main', persistDefinition: false },
      ),
    ],
    [
      'POST /admin/data/groups/:groupName/users',
      at('/admin/data/groups/editors/users', { username: 'ann@example.test' }),
    ],
    [
      'POST /admin/data/operations/:operation/profile',
      at('/admin/data/operations/echo/profile', { payload: 1, calls: 1, seconds: 1 }),
    ],
    ...['disable', 'enable', 'sign-out'].map((change): [string, Seed[]] => [
      `POST /admin/data/users/:sub/${change}`,
      [{ path: `/admin/data/users/nobody/${change}` }],
    ]),
    ['POST /admin/data/compute/execute', at('/admin/data/compute/execute', { code: '1' })],
    ['POST /admin/data/iac/jobs/:jobId/cancel', [{ path: '/admin/data/iac/jobs/x/cancel' }]],
    [
      'PUT /admin/data/iac/definitions/:profileName',
      at('/admin/data/iac/definitions/main', { definition: DEFINITION, overwriteDefinition: true }),
    ],
  ])
  for (const [action, body] of Object.entries(TABLE_BODIES)) {
    const route = `${resources}/:resourceId/data/ddb/${action}`
    all.set(`POST ${route}`, at(route.replace(':resourceId', table), body))
  }
  for (const [action, body] of Object.entries(BUCKET_BODIES)) {
    const route = `${resources}/:resourceId/data/s3/${action}`
    all.set(`POST ${route}`, at(route.replace(':resourceId', bucket), body))
  }
  return all
}

/** Each body with one value of it replaced, its own names kept: by what cannot be stored, and by some of the rest in turn. */
function* mutations(body: unknown): Generator<readonly [what: string, text: string]> {
  const strange = Object.entries(STRANGE)
  let turn = 0
  for (const path of pathsOf(body)) {
    for (const [what, text] of strange) {
      turn += 1
      const always = what.includes('NUL')
      if (always || turn % EVERY === 0)
        yield [`${what} at ${path.join('.')}`, replaced(body, path, text)]
    }
  }
}

function* pathsOf(value: unknown, at: readonly string[] = []): Generator<readonly string[]> {
  yield at
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) yield* pathsOf(inner, [...at, name])
}

function replaced(value: unknown, [name, ...rest]: readonly string[], text: string): string {
  if (name === undefined) return text
  const put = (key: string, inner: unknown) =>
    key === name ? replaced(inner, rest, text) : JSON.stringify(inner)
  if (Array.isArray(value)) return `[${value.map((inner, at) => put(String(at), inner)).join()}]`
  const fields = Object.entries(value as object).filter(([, inner]) => inner !== undefined)
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${put(key, inner)}`).join()}}`
}

/** Runs them some at once; gives back what was not an answer of ours. */
async function faultsOf(calls: Iterable<readonly [string, () => Promise<Answer>]>) {
  const faults: string[] = []
  const queue = calls[Symbol.iterator]()
  let sent = 0
  const work = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const [what, call] = next.value
      sent += 1
      const answer = await call()
      if (!isExpected(answer)) faults.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { faults, sent }
}

function isExpected(answer: Answer): boolean {
  if (answer.status >= 500) return false
  if (answer.status < 400) return true
  const { error } = answer.json as { error: Record<string, unknown> }
  return ['code', 'message', 'requestId'].every((name) => typeof error[name] === 'string')
}

const send = (method: string, path: string, options: CallOptions = {}) =>
  stack.call('one.test', method, path, {
    token,
    ...options,
    headers: { 'content-type': 'application/json' },
  })

function* brokenBodies() {
  for (const [route, [seed]] of seeds) {
    const [method = ''] = route.split(' ')
    const path = seed?.path ?? ''
    for (const [what, body] of Object.entries(WHOLE)) {
      yield [`${route} with ${what}`, () => send(method, path, { body })] as const
    }
  }
}

function* strangePlaces() {
  for (const { method, path } of routes.filter((route) => !route.path.endsWith('/stream'))) {
    const parts = path.includes(':') ? PARTS : []
    const queries = method === 'GET' ? QUERIES : []
    for (const place of [
      ...parts.map((part) => path.replaceAll(/:\w+/g, part)),
      ...queries.map((query) => `${path.replaceAll(/:\w+/g, 'x')}?${query}`),
    ]) {
      yield [`${method} ${place}`, () => send(method, place)] as const
    }
  }
}

describe('a route of /admin/data', () => {
  test('that takes a body has one here', () => {
    const takes = routes.filter(({ method }) => ['POST', 'PUT', 'PATCH'].includes(method))
    const missing = takes.map(nameOf).filter((name) => !seeds.has(name))
    expect(missing.filter((name) => !name.endsWith('/:action'))).toEqual([])
  })

  test('answers any body with a response of its own', { timeout: 60_000 }, async () => {
    function* calls() {
      for (const [route, each] of seeds) {
        const [method = ''] = route.split(' ')
        for (const { path, body } of each) {
          if (body === undefined) continue
          for (const [what, text] of mutations(body)) {
            yield [`${route} with ${what}`, () => send(method, path, { body: text })] as const
          }
        }
      }
    }
    const { faults, sent } = await faultsOf(calls())
    expect(sent).toBeGreaterThan(500)
    expect(faults).toEqual([])
  })

  test('answers bodies that are no JSON, and what is no name', { timeout: 60_000 }, async () => {
    const { faults, sent } = await faultsOf([...brokenBodies(), ...strangePlaces()])
    expect(sent).toBeGreaterThan(500)
    expect(faults).toEqual([])
  })
})
