import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const AT_ONCE = 8
const JSON_TYPE = 'application/json'
const OPEN = { auth: { mode: 'public' } }
const KEPT = { cache: { ttlSeconds: 60 } }
/** What it is given, in words that JSON cannot lose, and whose it is. */
const WHOAMI = `
export default ({ payload, auth, site }) => ({
  of: 'marker-' + site.siteDomain,
  sub: auth?.sub ?? null,
  saw: Object.is(payload, -0) ? '-0' : typeof payload + ' ' + (Array.isArray(payload) ? payload.join() : String(payload)),
})`

const BODIES: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'half of it': '{"payload":',
  'no object': '[1]',
  'a word': '"payload"',
  'a byte order mark': '\uFEFF{"payload":1}',
  'no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'UTF-16': Buffer.from('{"payload":1}', 'utf16le'),
  'NUL bytes': Buffer.alloc(64),
  'a depth of 200 000': `{"payload":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  'a depth of objects': `${'{"payload":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  'a million values': `{"payload":[${'1,'.repeat(1_000_000)}1]}`,
  'a number of 100 000 digits': `{"payload":${'9'.repeat(100_000)}}`,
  'a number beyond doubles': '{"payload":1e999}',
  'a prototype': '{"__proto__":{"payload":1},"payload":{"__proto__":{"key":1},"constructor":{}}}',
  'a name twice': '{"payload":{"key":{"id":"a"},"key":[]},"payload":{"key":"__proto__"}}',
  'half a surrogate pair': '{"payload":{"key":{"id":"\\ud800"}}}',
  'NUL in a key': '{"payload":{"key":{"id":"a\\u0000b"}}}',
  'a key with a prototype': '{"payload":{"key":{"__proto__":"x"}}}',
  'a key as a list': '{"payload":{"key":["id"]}}',
  'markers of items': '{"payload":{"key":{"id":{"$set":[]}},"item":{"$binary":"!"}}}',
  'a number that is no key': '{"payload":{"key":{"id":{"$number":"1.0"}}}}',
  'names of both spellings': '{"payload":{"key":{"id":"a"},"Key":{"id":"b"}}}',
  'text where a map belongs': '{"payload":{"key":"id","item":"x","expressionAttributeNames":"y"}}',
  'a list where text belongs': '{"payload":{"key":["a"],"body":["b"],"contentType":{}}}',
  'a huge key': `{"payload":{"key":{"id":"${'x'.repeat(100_000)}"}}}`,
  'a huge text': `{"payload":{"key":"${'\\u0000'.repeat(50_000)}"}}`,
}

const PATHS = [
  '/data/public/%77hoami',
  '/data/public/whoami/',
  '/data/public//whoami',
  '/data/public/whoami%00',
  '/data/public/whoami;x=1',
  '/data/public/whoami?payload=1&__proto__=2',
  '/data/public/whoami#fragment',
  '/data/public/..%2fmine',
  '/data/public/../mine',
  '/data/public/%2e%2e/mine',
  '/data/public/%ED%A0%80',
  '/data/public/%C0%AE%C0%AE',
  '/data/public/%',
  '/data/public/%zz',
  '/data/%70ublic/whoami',
  '/data/public%2fwhoami',
  '/data/./public/./whoami',
  '/data\\public\\whoami',
  '/DATA/PUBLIC/whoami',
  '/data/public/WHOAMI',
  '/data/public',
  '/data/',
  '/data',
  '//data/public/whoami',
  '/data/public/__proto__',
  '/data/public/constructor',
  '/data/public/toString',
  '/data/public/hasOwnProperty',
  '/data/__proto__',
  `/data/public/${'x'.repeat(8000)}`,
  `/data/public/${'%41'.repeat(2000)}`,
  'http://two.test@one.test/data/public/whoami',
  '*',
]

const METHODS = ['POST', 'GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']

const HEADERS: readonly (readonly [string, string])[] = [
  ['x-forwarded-host', 'two.test'],
  ['x-forwarded-host', 'two.test, one.test'],
  ['forwarded', 'host=two.test;proto=https'],
  ['x-original-url', '/data/mine'],
  ['x-rewrite-url', '/data/mine'],
  ['x-host', 'two.test'],
  ['x-http-method-override', 'DELETE'],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'application/json\t;x'],
  ['content-type', 'multipart/form-data; boundary=x'],
  ['content-type', 'application/x-www-form-urlencoded'],
  ['content-encoding', 'gzip'],
  ['if-none-match', '*'],
  ['if-modified-since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  ['range', 'bytes=0-3'],
  ['expect', '100-continue'],
  ['cache-control', 'only-if-cached'],
  ['origin', 'null'],
  ['origin', 'http://two.test'],
  ['authorization', 'Bearer'],
  ['authorization', 'Bearer a.b.c'],
  ['authorization', `Bearer ${'a'.repeat(9000)}`],
  ['cookie', '__proto__=1; __Host-x=y'],
  ['x-request-id', 'a\u00e9b'],
]

const STRANGE_HOSTS = [
  'one.test@two.test',
  'two.test, one.test',
  'one.test/../two.test',
  'one.test\\two.test',
  'one.test#two.test',
  'one.test two.test',
  '[one.test]',
  '%6fne.test',
  '__proto__',
  '',
]

interface Raw {
  readonly status: number
  readonly head: string
  readonly body: string
}

let stack: Stack
let one: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  one = await furnish('one.test')
  await furnish('two.test')
}, 30_000)
afterAll(() => stack[Symbol.asyncDispose]())

async function furnish(host: string): Promise<RuntimeSite> {
  const site = await RuntimeSite.open(stack, host)
  // A busy machine must not end a call by its CPU time before it meets what it is about.
  const { siteId } = await stack.context.sites.find(host)
  await stack.context.sites.update(siteId, { deploymentSettings: { limits: { cpuMs: 10_000 } } })
  const create = async (type: string, name: string, config: object) =>
    (await site.admin('POST', '/resources', { type, name, config })).json.resourceId
  const table = await create('ddbTable', 'notes', { partitionKey: { name: 'id', type: 'S' } })
  const bucket = await create('s3Bucket', 'files', {})
  const whoami = await site.putFunction('whoami', WHOAMI)
  await site.putOperation('whoami', { lambdaResourceId: whoami, ...OPEN })
  await site.putOperation('kept', { lambdaResourceId: whoami, ...OPEN, ...KEPT })
  await site.putOperation('mine', { lambdaResourceId: whoami, ...KEPT })
  await site.putOperation('echo', { preset: { preset: 'echo' }, ...OPEN })
  for (const action of ['get', 'put', 'scan', 'delete']) {
    const preset = { preset: `ddb.${action}`, resourceId: table }
    await site.putOperation(action, { preset, ...OPEN })
  }
  for (const action of ['get-object', 'put-object', 'list-objects', 'presign-put-object']) {
    const preset = { preset: `s3.${action}`, resourceId: bucket }
    await site.putOperation(action.replaceAll('-', '_'), { preset, ...OPEN })
  }
  await site.synced()
  return site
}

/** A request exactly as it is written here, on a connection of its own. */
function raw(text: string | Buffer): Promise<Raw> {
  const { promise, resolve, reject } = Promise.withResolvers<Raw>()
  const chunks: Buffer[] = []
  const socket = connect(stack.port, '127.0.0.1', () => socket.write(text))
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
  })
  socket.on('close', () => {
    const answer = Buffer.concat(chunks).toString()
    const [head = '', ...rest] = answer.split('\r\n\r\n')
    resolve({ status: Number(/^HTTP\/1\.\d (\d+)/.exec(head)?.[1] ?? 0), head, body: rest.join() })
  })
  return promise
}

function message(
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body: string | Buffer = '{"payload":1}',
): Buffer {
  const bytes = Buffer.from(body)
  const given = new Set(headers.map(([name]) => name))
  const own = [
    ['content-type', JSON_TYPE],
    ['content-length', String(bytes.length)],
    ['host', 'one.test'],
    ['connection', 'close'],
  ].filter(([name = '']) => !given.has(name))
  const lines = [...own, ...headers].map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

async function faultsOf(requests: Iterable<readonly [string, Buffer]>): Promise<string[]> {
  const faults: string[] = []
  const queue = requests[Symbol.iterator]()
  const work = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const [what, bytes] = next.value
      const { status, body } = await raw(bytes)
      const fault = status >= 500 || status === 0 || body.includes('marker-two.test')
      if (fault) faults.push(`${what}: ${status} ${body.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return faults
}

function* places() {
  for (const method of METHODS) {
    for (const path of PATHS) {
      yield [`${method} ${path.slice(0, 60)}`, message(method, path, [])] as const
    }
  }
}

function* bodies() {
  const operations = ['whoami', 'kept', 'echo', 'get', 'put', 'scan', 'delete']
  const onBuckets = ['get_object', 'put_object', 'list_objects', 'presign_put_object']
  for (const operation of [...operations, ...onBuckets]) {
    for (const [what, body] of Object.entries(BODIES)) {
      const path = `/data/public/${operation}`
      yield [`${operation} with ${what}`, message('POST', path, [], body)] as const
    }
  }
}

function* headed() {
  for (const operation of ['public/whoami', 'public/kept', 'mine']) {
    for (const header of HEADERS) {
      const words = `${operation} with ${header.join(': ').slice(0, 60)}`
      yield [words, message('POST', `/data/${operation}`, [header])] as const
    }
  }
}

const saw = async (body: string, operation: string): Promise<string> =>
  (await one.send(`/data/public/${operation}`, body)).json.data.saw

describe('a call of an operation', () => {
  test('gets an answer of ours whatever its path and method', { timeout: 60_000 }, async () => {
    expect(await faultsOf(places())).toEqual([])
  })

  test('gets an answer of ours whatever its body', { timeout: 60_000 }, async () => {
    expect(await faultsOf(bodies())).toEqual([])
  })

  test('gets an answer of its own site whatever its headers', { timeout: 60_000 }, async () => {
    expect(await faultsOf(headed())).toEqual([])
  })

  test('may come compressed, and in chunks', async () => {
    const packed = gzipSync('{"payload":1}')
    const zipped = [['content-encoding', 'gzip']] as const
    const unpacked = await raw(message('POST', '/data/public/whoami', zipped, packed))
    expect(unpacked.body).toContain('"saw":"number 1"')
    const chunked = [['transfer-encoding', 'chunked']] as const
    const head = message('POST', '/data/public/whoami', chunked, '').toString()
    const parts = '5\r\n{"pay\r\n8;x=y\r\nload":1}\r\n0\r\n\r\n'
    const answer = await raw(head.replace(/content-length: 0\r\n/, '') + parts)
    expect(answer.body).toContain('"saw":"number 1"')
  })

  test('belongs to the site that a target in absolute form names, whatever its Host', async () => {
    const target = 'http://two.test/data/public/whoami'
    const answer = await raw(message('POST', target, [['host', 'one.test']]))
    expect(answer.body).toContain('marker-two.test')
    expect(answer.body).not.toContain('marker-one.test')
  })

  test('belongs to the site that its one Host names', async () => {
    const call = (host: string) => raw(message('POST', '/data/public/whoami', [['host', host]]))
    for (const host of ['one.test', 'ONE.TEST', 'one.test:8080', 'one.test.']) {
      expect((await call(host)).body, host).toContain('marker-one.test')
    }
    for (const host of STRANGE_HOSTS) {
      const answer = await call(host)
      expect([400, 404], host).toContain(answer.status)
      expect(answer.body).not.toContain('marker')
    }
  })
})

describe('an answer that is kept', () => {
  test('is that of the very value that was asked', async () => {
    const values = ['null', '0', '-0', '1e999', '-1e999', '"null"', '[]', '""', '[null]', 'false']
    for (const value of values) {
      const body = `{"payload":${value}}`
      expect(await saw(body, 'kept'), value).toBe(await saw(body, 'whoami'))
    }
  })

  test('is its caller’s own', async () => {
    const subs: unknown[] = []
    for (const user of ['ann', 'bob', 'ann']) {
      const token = await stack.dataToken('one.test', { user: `${user}@cache.test` })
      const { json, headers } = await one.callAs(token, 'mine', 'same')
      subs.push([json.data.sub, headers['x-cache']])
    }
    const [ann, bob] = subs
    expect(subs[2]).toEqual([(ann as unknown[])[0], 'HIT'])
    expect(bob).not.toEqual(ann)
    const stranger = await one.send('/data/mine', '{"payload":"same"}')
    expect(stranger.status).toBe(401)
    const elsewhere = await stack.dataToken('two.test', { user: 'ann@cache.test' })
    expect((await one.callAs(elsewhere, 'mine', 'same')).status).toBe(401)
  })
})
