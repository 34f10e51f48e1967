import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { httpApp } from '#http/app.ts'
import { METRICS } from '#http/metrics/routes.ts'
import { operatorApp } from '#http/operator-app.ts'
import { RequestTraffic } from '#http/request-traffic.ts'
import { DiskSpace } from '#platform/disk/disk-space.ts'
import type { Egress, EgressRequest } from '#platform/egress/egress.ts'
import { EventLoopLag } from '#platform/event-loop-lag.ts'
import { startHttpServer } from '#platform/http-server/http-server.ts'
import { createLogger } from '#platform/log/create-logger.ts'
import { ISOLATION_LAYERS } from '#platform/sandbox-host/isolation/isolation-layers.ts'
import { RequestTraces } from '#platform/tracing/request-traces.ts'
import { type Tracer, openTracer } from '#platform/tracing/tracer.ts'
import { request } from '#test/http-client.ts'
import { asAdmin } from '#test/postgres.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** What the log says, and what site code asks of others. */
const lines: string[] = []
const sent: EgressRequest[] = []
const egress: Egress = {
  async fetch(request) {
    sent.push(request)
    const { url } = request
    return { status: 200, statusText: '', url, redirected: false, headers: [], bodyBase64: '' }
  },
}
const requestTraces = new RequestTraces()
/** The spans that a collector received; its listener and exporter end with the file. */
const spans: ReportedSpan[] = []
const cleanUpAll = new AsyncDisposableStack()
let tracer: Tracer
/** Records what a client records, and one in none of what comes without a trace. */
async function collecting(): Promise<Tracer> {
  const collector = await startHttpServer({
    async fetch(request) {
      const { resourceSpans } = (await request.json()) as OtlpReport
      for (const { resource, scopeSpans } of resourceSpans)
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({
            ...span,
            url: new URL(request.url).pathname,
            of: valueOf(resource, 'service.name'),
          })
      return Response.json({})
    },
    hostname: '127.0.0.1',
    port: 0,
  })
  cleanUpAll.defer(() => collector.drain(0))
  const endpoint = `http://127.0.0.1:${collector.port}`
  const config = { endpoint, serviceName: 'croft-test', sampleRatio: 0 }
  tracer = cleanUpAll.use(await openTracer(config, { version: '1.2.3', logger: silentLog }))
  return tracer
}

interface Attributed {
  readonly attributes: readonly {
    key: string
    value: { stringValue?: string; intValue?: number }
  }[]
}
interface OtlpSpan extends Attributed {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly code: number }
}
interface OtlpReport {
  readonly resourceSpans: readonly {
    readonly resource: Attributed
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}
interface ReportedSpan extends OtlpSpan {
  readonly url: string
  readonly of: unknown
}

function valueOf({ attributes }: Attributed, name: string): unknown {
  const { stringValue, intValue } = attributes.find(({ key }) => key === name)?.value ?? {}
  return stringValue ?? intValue
}

let stack: Stack
beforeAll(async () => {
  stack = await startStack({
    sandbox: 'started',
    logger: createLogger(
      { logLevel: 'info' },
      { write: (line) => lines.push(line) },
      requestTraces,
    ),
    platform: { requestTraces, egress, tracer: await collecting() },
  })
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await cleanUpAll.disposeAsync()
})

describe('the service', () => {
  test('says that it lives and what is ready', async () => {
    expect((await stack.call('any.host', 'GET', '/healthz')).json).toEqual({ status: 'ok' })
    const ready = await stack.call('any.host', 'GET', '/readyz')
    expect(ready.status).toBe(200)
    expect(ready.json).toEqual({
      status: 'ready',
      checks: { postgres: 'ok', objects: 'ok', disk: 'ok', sandbox: 'ok' },
    })
  })

  test('says which isolation layers exist around site code to the operator alone', async () => {
    const token = stack.operatorKey
    const ready = await stack.call('any.host', 'GET', '/readyz', { token })
    const { walls } = ready.json
    expect(walls.map(({ wall }: { wall: string }) => wall)).toEqual(ISOLATION_LAYERS)
    for (const { stands, reason } of walls) expect(reason === null).toBe(stands)
    const other = await stack.call('any.host', 'GET', '/readyz', { token: 'another key' })
    expect(other.json).not.toHaveProperty('walls')
    const told = await stack.call('any.host', 'GET', '/portal/api/diagnosis', { token })
    expect(told.json).toEqual({ ...other.json, walls, findings: expect.any(Array) })
  })

  test('writes no line about probes', async () => {
    const answers = [
      await stack.call('any.host', 'GET', '/healthz'),
      await stack.call('any.host', 'GET', '/readyz'),
      await stack.call('any.host', 'GET', '/admin/public/nothing'),
    ]
    const isLogged = ({ headers }: (typeof answers)[number]) =>
      lines.some((line) => line.includes(headers['x-request-id'] ?? 'none'))
    expect(answers.map(isLogged)).toEqual([false, false, true])
  })

  test('gives every answer an id of its own, which tells nothing of the others', async () => {
    const answers = await Promise.all([1, 2].map(() => stack.call('x', 'GET', '/healthz')))
    const ids = answers.map(({ headers }) => headers['x-request-id'] ?? '')
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/)
    const [one = '', other = ''] = ids
    expect(one.slice(0, 8)).not.toBe(other.slice(0, 8))
    expect(one.slice(-8)).not.toBe(other.slice(-8))
  })

  test.each([
    ['an unknown path', 'GET', '/nowhere', 404, 'RouteNotFound'],
    ['a known path with another method', 'DELETE', '/admin/public/config', 405, 'MethodNotAllowed'],
  ])('answers %s with the body of the admin routes', async (_what, method, path, status, code) => {
    const answer = await stack.call('one.test', method, path)
    expect(answer).toMatchObject({
      status,
      json: { error: { code, requestId: answer.headers['x-request-id'] } },
    })
  })

  test('answers under /data with the envelope', async () => {
    const answer = () => stack.call('one.test', 'GET', '/data/a/b/c/d')
    // Until its first revision is published a site answers that it is being made.
    await expect.poll(answer, { timeout: 20_000 }).toMatchObject({
      status: 404,
      json: { ok: false, error: { code: 'RouteNotFound' } },
    })
  })

  test('names the host that is no site', async () => {
    for (const [method, path] of [
      ['GET', '/admin/public/config'],
      ['POST', '/data/public/x'],
    ] as const) {
      const answer = await stack.call('nobody.test', method, path)
      const message = expect.stringMatching(
        /^No site has the domain "nobody\.test.*: the Host header/,
      )
      expect(answer).toMatchObject({
        status: 404,
        json: { error: { code: 'SiteNotFound', message } },
      })
    }
  })

  const DEEP = '['.repeat(50_000) + ']'.repeat(50_000)
  const WIDE = `[${'1,'.repeat(100_000)}1]`

  test.each([
    ['nested too deep', DEEP],
    ['of too many values', WIDE],
  ])('refuses the JSON of operators and visitors that is %s', async (_what, text) => {
    const headers = { 'content-type': 'application/json' }
    const answers = [
      await stack.call('one.test', 'POST', '/portal/api/sites', {
        token: stack.operatorKey,
        headers,
        body: `{"domain":${text}}`,
      }),
      await stack.call('one.test', 'POST', '/data/auth/password/add', {
        token: await stack.dataToken('one.test'),
        headers,
        body: `{"password":${text}}`,
      }),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
      expect(answer.json.error.limit).toBeGreaterThan(0)
    }
  })

  test.each([
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['nothing that it names', {}],
  ])('says what to send when JSON is sent as %s', async (_what, headers) => {
    const body = '{"type":"s3Bucket","name":"photos"}'
    const token = await stack.adminToken('one.test')
    const answer = await stack.call('one.test', 'POST', '/admin/data/resources', {
      token,
      headers,
      body,
    })
    expect(answer).toMatchObject({
      status: 415,
      json: { error: { code: 'UnsupportedMediaType' } },
    })
    expect(answer.json.error.message).toContain('application/json')
  })

  test.each(['/portal/api/sites', '/data/auth/password/add'])(
    'reads a compressed body for %s as any other, and says which codings it knows',
    async (path) => {
      const token = path.startsWith('/portal')
        ? stack.operatorKey
        : await stack.dataToken('one.test')
      const send = (coding: string, body: Uint8Array | string) => {
        const headers = { 'content-type': 'application/json', 'content-encoding': coding }
        return stack.call('one.test', 'POST', path, { token, headers, body })
      }
      const text = '{"payload":{},"unknown":1}'
      const plain = await send('identity', text)
      expect(plain).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
      for (const compressed of [
        await send('gzip', gzipSync(text)),
        await send('zstd', zstdCompressSync(text)),
      ]) {
        expect(compressed.status).toBe(plain.status)
        expect(compressed.json.error.details).toEqual(plain.json.error.details)
      }
      const other = await send('compress', text)
      expect(other).toMatchObject({
        status: 415,
        json: { error: { code: 'UnsupportedMediaType' } },
      })
      expect(other.headers['accept-encoding']).toBe('gzip, deflate, br, zstd')
      const bomb = await send('br', brotliCompressSync(Buffer.alloc(64 * 1024 * 1024)))
      expect(bomb).toMatchObject({ status: 413, json: { error: { code: 'PayloadTooLarge' } } })
    },
  )

  test('says that a body is missing when there is none', async () => {
    const token = await stack.adminToken('one.test')
    const answer = await stack.call('one.test', 'POST', '/admin/data/resources', { token })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
  })

  test('takes an ordinary form for JSON nowhere, though all of its fields are right', async () => {
    const answer = await stack.call('one.test', 'POST', '/portal/api/sites/one.test/tokens', {
      token: stack.operatorKey,
      body: 'user=ann%40one.test',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer).toMatchObject({ status: 415, json: { error: { code: 'UnsupportedMediaType' } } })
  })

  test('refuses a body that is too long before it reads it', async () => {
    const answer = await stack.call('one.test', 'POST', '/portal/api/sites', {
      token: stack.operatorKey,
      headers: { 'content-length': String(100 * 1024 * 1024) },
    })
    expect(answer).toMatchObject({ status: 413, json: { error: { code: 'PayloadTooLarge' } } })
  })

  test('believes X-Forwarded-Host from a trusted proxy only', async () => {
    const headers = { 'x-forwarded-host': 'one.test' }
    const untrusted = await stack.call('nobody.test', 'GET', '/admin/public/config', { headers })
    expect(untrusted.status).toBe(404)
    await using behind = await startStack({
      beside: stack,
      config: { trustedProxies: ['127.0.0.1'] },
    })
    const trusted = await behind.call('nobody.test', 'GET', '/admin/public/config', { headers })
    expect(trusted.json).toMatchObject({ siteDomain: 'one.test' })
  })
})

describe('other origins', () => {
  const preflight = (host: string, path: string, origin: string, method = 'GET') =>
    stack.call(host, 'OPTIONS', path, {
      headers: { origin, 'access-control-request-method': method },
    })

  test('that the site names may read its data routes, and no other may', async () => {
    await stack.portal('PATCH', '/sites/two.test', {
      deploymentSettings: { cors: { origins: ['https://app.two.test'] } },
    })
    const named = await preflight('two.test', '/data/auth/config', 'https://app.two.test')
    expect(named.headers['access-control-allow-origin']).toBe('https://app.two.test')
    const read = await stack.call('two.test', 'GET', '/data/auth/config', {
      headers: { origin: 'https://app.two.test' },
    })
    expect(read.headers['access-control-allow-origin']).toBe('https://app.two.test')
    expect(read.headers['access-control-allow-credentials']).toBeUndefined()

    for (const [host, origin] of [
      ['two.test', 'https://evil.test'],
      ['one.test', 'https://app.two.test'],
      ['two.test', 'null'],
    ] as const) {
      const other = await preflight(host, '/data/auth/config', origin)
      expect(other.headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  test('never include those of a site for its admin routes', async () => {
    const other = await preflight('two.test', '/admin/public/config', 'https://app.two.test')
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
    const own = await preflight('two.test', '/admin/public/config', stack.baseUrl('two.test'))
    expect(own.headers['access-control-allow-origin']).toBe(stack.baseUrl('two.test'))
  })

  test('get the rendered error when the database is gone', async () => {
    await using alone = await startStack({ sites: [] })
    const { name } = alone.database
    await asAdmin(async (admin) => {
      await admin`alter database ${admin(name)} allow_connections false`
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    })
    const answer = await alone.call('late.test', 'GET', '/data/auth/config', {
      headers: { origin: 'https://app.test' },
    })
    await asAdmin((admin) => admin`alter database ${admin(name)} allow_connections true`)
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect(answer.json).toMatchObject({ ok: false, error: { code: expect.any(String) } })
    expect(answer.headers['x-request-id']).toBe(answer.json.error.requestId)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('a trace that a client has begun', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  /** Its client does not record it, so it is not recorded here. */
  const traceparent = `00-${traceId}-00f067aa0ba902b7-00`
  const tracestate = 'vendor=value'
  let site: RuntimeSite
  beforeAll(async () => {
    site = await RuntimeSite.create(stack, 'traced.test')
    const code =
      'export default async ({ payload }) => { await fetch("https://api.example/", payload) }'
    await site.publish('asks', code)
    await site.publish(
      'goes-on',
      'export default async (_event, { waitUntil }) => { waitUntil(fetch("https://api.example/")) }',
    )
    const served =
      'export default { async fetch() { await fetch("https://api.example/"); return new Response() } }'
    await site.publish('serves', served, { http: true })
  })

  /** The headers of a trace in the one request that a call sends. */
  const asked = async (path: string, headers: Record<string, string>, payload: unknown = {}) => {
    sent.length = 0
    const body = { payload }
    const answer = await stack.call('traced.test', 'POST', path, { headers, body })
    expect(answer.status).toBe(200)
    await vi.waitUntil(() => sent.length > 0)
    const pairs = sent.flatMap((request) => request.headers)
    return Object.fromEntries(pairs.filter(([name]) => name.startsWith('trace')))
  }

  test.each(['/data/public/asks', '/data/public/goes-on', '/data/public/serves/below'])(
    'goes on with what %s asks of others',
    async (path) => {
      expect(await asked(path, { traceparent, tracestate })).toEqual({ traceparent, tracestate })
      // This request has no trace.
      expect(await asked(path, {})).toEqual({})
    },
  )

  test('goes on under the name that the function gives it, if it does', async () => {
    const own = { headers: { Traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` } }
    const headers = await asked('/data/public/asks', { traceparent, tracestate }, own)
    expect(headers).toEqual({ traceparent: own.headers.Traceparent })
  })

  test('is none where the header is none', async () => {
    const headers = { traceparent: `${traceparent}-more`, tracestate }
    expect(await asked('/data/public/asks', headers)).toEqual({})
  })

  test('is named by each line of the log that is about the request, and by no other', async () => {
    lines.length = 0
    const ask = (headers: Record<string, string>) =>
      stack.call('one.test', 'GET', '/admin/public/nothing', { headers })
    const [traced, other] = [await ask({ traceparent }), await ask({})]
    const written = lines.map((line): Record<string, unknown> => JSON.parse(line))
    const of = (id: string | undefined) => written.find(({ requestId }) => requestId === id)
    expect(of(traced.headers['x-request-id'])).toMatchObject({ msg: 'request', traceId })
    expect(of(other.headers['x-request-id'])).not.toHaveProperty('traceId')
  })

  test('is recorded where its client records it: what was asked here, and what its function asked', async () => {
    const sampled = `00-${traceId}-00f067aa0ba902b7-01`
    const headers = await asked('/data/public/asks', { traceparent: sampled, tracestate })
    await asked('/data/public/asks', { traceparent, tracestate })
    await asked('/data/public/asks', {})
    // What waits to be exported is exported now.
    await tracer[Symbol.asyncDispose]()
    const [server, client] = ['SERVER', 'CLIENT'].map((_kind, index) =>
      spans.find(({ kind }) => kind === index + 2),
    )
    expect(spans).toHaveLength(2)
    expect(server).toMatchObject({
      url: '/v1/traces',
      of: 'croft-test',
      name: 'POST /data',
      traceId,
      parentSpanId: '00f067aa0ba902b7',
      status: { code: 0 },
    })
    expect(client).toMatchObject({ name: 'GET', traceId, parentSpanId: server?.spanId })
    expect(headers).toEqual({ traceparent: `00-${traceId}-${client?.spanId}-01`, tracestate })
    const told = (span: ReportedSpan | undefined, name: string) => span && valueOf(span, name)
    expect(told(server, 'http.response.status_code')).toBe(200)
    expect(told(server, 'url.path')).toBe('/data/public/asks')
    expect(told(server, 'server.address')).toMatch(/^traced\.test/)
    expect(told(server, 'croft.request_id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(told(client, 'server.address')).toBe('api.example')
  })

  test('may come from pages of other origins', async () => {
    const headers = { origin: stack.baseUrl('one.test'), 'access-control-request-method': 'POST' }
    const answer = await stack.call('one.test', 'OPTIONS', '/data/public/x', { headers })
    expect(answer.headers['access-control-allow-headers']).toContain('traceparent, tracestate')
  })
})

describe('a listener of the operator’s own', () => {
  const ports = { operator: 0, public: 0 }
  const cleanUp = new AsyncDisposableStack()
  beforeAll(async () => {
    const config = { ...stack.context.config, operator: { host: '127.0.0.1', port: 0 } }
    const places = { folder: stack.dataDir }
    const disk = cleanUp.use(
      await DiskSpace.open({ places, reserveBytes: undefined, log: silentLog }),
    )
    const context = { ...stack.context, config, disk }
    const traffic = new RequestTraffic()
    const eventLoop = cleanUp.use(new EventLoopLag())
    for (const [name, app] of [
      ['operator', operatorApp(context, { traffic, eventLoop, version: '1.2.3' })],
      ['public', httpApp(context)],
    ] as const) {
      const fetch = traffic.counting((incoming, peer) => app.fetch(incoming, peer))
      const server = await startHttpServer({ fetch, hostname: '127.0.0.1', port: 0 })
      cleanUp.defer(() => server.drain(0))
      ports[name] = server.port
    }
  })
  afterAll(() => cleanUp.disposeAsync())

  const ask = (at: keyof typeof ports, method: string, path: string, token = stack.operatorKey) =>
    request({
      port: ports[at],
      host: 'one.test',
      method,
      path,
      headers: { authorization: `Bearer ${token}` },
    })

  test('serves the portal and the probes', async () => {
    const sites = await ask('operator', 'GET', '/portal/api/sites')
    expect(sites).toMatchObject({ status: 200 })
    expect(sites.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect((await ask('operator', 'GET', '/healthz')).json).toEqual({ status: 'ok' })
    const ready = await ask('operator', 'GET', '/readyz')
    expect(ready.json).toMatchObject({ status: 'ready', walls: expect.any(Array) })
    expect(await ask('operator', 'GET', '/portal/api/sites', 'wrong')).toMatchObject({
      status: 401,
    })
    expect(await ask('operator', 'PUT', '/portal/api/sites')).toMatchObject({ status: 405 })
  })

  test('serves nothing of a site, whichever it names', async () => {
    const { app } = stack
    const ofSites = app.routes.filter(({ path }) => !/^\/(portal|healthz|readyz)/.test(path))
    expect(ofSites.length).toBeGreaterThan(100)
    for (const { method, path } of ofSites) {
      const answer = await ask('operator', method === 'ALL' ? 'GET' : method, path)
      expect(answer.status, `${method} ${path}`).toBe(404)
    }
  })

  test('takes the portal from the public one, where the operator key opens nothing', async () => {
    const { app } = stack
    const portal = app.routes.filter(({ path }) => path.startsWith('/portal/'))
    const shared = portal.filter(({ detail }) =>
      String(detail['x-authority']).startsWith('deploy-'),
    )
    expect(shared.length).toBeGreaterThan(10)
    for (const route of portal) {
      const { method, path } = route
      const answer = await ask('public', method, path)
      expect(answer.status, `${method} ${path}`).toBe(shared.includes(route) ? 401 : 404)
    }
    expect((await ask('public', 'GET', '/readyz')).json).not.toHaveProperty('walls')
    expect(await ask('public', 'GET', '/healthz')).toMatchObject({ status: 200 })
    expect(await ask('public', 'GET', '/admin/public/config')).toMatchObject({ status: 200 })
  })

  test('leaves what a deploy token opens where CI reaches it', async () => {
    const body = { name: 'CI', scopes: ['deploy'] }
    const made = await stack.portal('POST', '/sites/one.test/deploy-tokens', body)
    for (const at of ['public', 'operator'] as const) {
      const path = '/portal/api/sites/one.test/deployments'
      expect(await ask(at, 'GET', path, made.json.token)).toMatchObject({ status: 200 })
    }
  })

  test('tells a proxy which domains are sites, and the public one does not', async () => {
    const asked = (domain: string) => `/tls-permission?domain=${domain}`
    const known = await ask('operator', 'GET', asked('one.test'), 'no key')
    expect(known).toMatchObject({ status: 200, json: { domain: 'one.test' } })
    expect(await ask('operator', 'GET', asked('TWO.test.'))).toMatchObject({ status: 200 })
    await stack.portal('PATCH', '/sites/one.test', { adminDomain: 'admin.one.test' })
    const admin = await ask('operator', 'GET', asked('admin.one.test'))
    expect(admin).toMatchObject({ status: 200, json: { domain: 'one.test' } })
    await stack.portal('PATCH', '/sites/one.test', { adminDomain: null })
    for (const domain of [
      'three.test',
      'a.one.test',
      '127.0.0.1',
      '*.test',
      '%00',
      '%C3%A9.test',
    ]) {
      const answer = await ask('operator', 'GET', asked(domain))
      expect(answer, domain).toMatchObject({ status: 404 })
      expect(answer.json.error.code).toBe('SiteNotFound')
    }
    for (const path of ['/tls-permission', asked(''), asked('a'.repeat(256))])
      expect((await ask('operator', 'GET', path)).status, path).toBe(400)
    expect(await ask('public', 'GET', asked('one.test'))).toMatchObject({ status: 404 })
  })

  describe('tells Prometheus', () => {
    /** Each sample by its name and labels, as they are written. */
    const scrape = async () => {
      const answer = await ask('operator', 'GET', '/metrics', 'no key')
      expect(answer).toMatchObject({ status: 200 })
      expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
      const lines = answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      const samples = new Map(
        lines.map((line) => {
          const end = line.lastIndexOf(' ')
          return [line.slice(0, end), Number(line.slice(end + 1))] as const
        }),
      )
      expect(samples.size).toBe(lines.length)
      return { text: answer.text, samples }
    }

    /** What has been added between two looks; what was not there counts as 0. */
    const grown = async (work: () => Promise<unknown>) => {
      const { samples: before } = await scrape()
      await work()
      const { samples: after } = await scrape()
      return (sample: string) => (after.get(sample) ?? Number.NaN) - (before.get(sample) ?? 0)
    }

    test('all that it declares, under the labels that it declares', async () => {
      const { text, samples } = await scrape()
      const withoutRedis = METRICS.filter(({ name }) => !name.startsWith('croft_redis_'))
      for (const { name, type, labels } of withoutRedis) {
        expect(text).toContain(`\n# TYPE ${name} ${type}\n`)
        const found = [...samples.keys()].filter(
          (key) =>
            key
              .replace(/\{.*/, '')
              .replace(type === 'histogram' ? /_(bucket|sum|count)$/ : '', '') === name,
        )
        expect(found.length, name).toBeGreaterThan(0)
        for (const key of found) {
          const used = Array.from(key.matchAll(/(\w+)="/g), ([, label]) => label)
          expect(new Set(used.filter((label) => label !== 'le')), key).toEqual(new Set(labels))
        }
      }
      expect(text.match(/^# TYPE /gm)).toHaveLength(withoutRedis.length)
      expect(text).toContain('croft_info{version="1.2.3",runtime="Node ')
      for (const part of ['postgres', 'objects', 'sandbox']) {
        expect(samples.get(`croft_part_up{part="${part}"}`)).toBe(1)
      }
      const disk = (what: string) => samples.get(`croft_disk_${what}{place="folder"}`) ?? Number.NaN
      expect(disk('size_bytes')).toBeGreaterThan(disk('free_bytes'))
      expect(disk('free_bytes')).toBeGreaterThan(disk('reserve_bytes'))
      expect(disk('full')).toBe(0)
    })

    test('nothing on the public port', async () => {
      expect(await ask('public', 'GET', '/metrics')).toMatchObject({ status: 404 })
    })

    test('how calls end, of which kind, and nothing of whose they are', async () => {
      const site = await RuntimeSite.create(stack, 'measured.test')
      const { siteId } = await stack.context.sites.find('measured.test')
      await site.publish(
        'secretly-named',
        'export default ({ payload }) => { if (payload === 2) throw new Error(); return payload }',
      )
      await site.publish('repeatable', 'export default () => 1', {
        cache: { ttlSeconds: 60 },
      })
      await site.putOperation('echoes', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
      await site.synced()
      const by = await grown(async () => {
        for (const payload of [1, 2, 3]) await site.call('secretly-named', payload)
        for (const payload of [1, 1, 1]) await site.call('repeatable', payload)
        await site.call('echoes', 'x')
      })
      expect(by('croft_calls_total{kind="function",outcome="answered"}')).toBe(3)
      expect(by('croft_calls_total{kind="function",outcome="failed"}')).toBe(1)
      expect(by('croft_calls_total{kind="function",outcome="cached"}')).toBe(2)
      expect(by('croft_calls_total{kind="preset",outcome="answered"}')).toBe(1)
      expect(by('croft_call_duration_seconds_count{kind="function"}')).toBe(4)
      expect(by('croft_call_duration_seconds_sum{kind="function"}')).toBeGreaterThan(0)
      expect(by('croft_response_cache_lookups_total{result="memory hit"}')).toBe(2)
      expect(by('croft_response_cache_lookups_total{result="miss"}')).toBe(1)
      expect(by('croft_sandbox_queue_wait_seconds_count')).toBe(4)
      const classes = ['ordinary', 'apart', 'long', 'spare', 'quarantine', 'load']
      const inside = (outcome: string) =>
        classes.reduce(
          (sum, siteClass) =>
            sum + by(`croft_sandbox_calls_total{site_class="${siteClass}",outcome="${outcome}"}`),
          0,
        )
      expect([inside('succeeded'), inside('failed')]).toEqual([3, 1])
      const { text } = await scrape()
      for (const name of ['measured', siteId, 'secretly', 'repeatable', 'echoes', '127.0.0.1'])
        expect(text).not.toContain(name)
    })

    test('requests, statements, jobs, mail and sign-ins', async () => {
      const { context } = stack
      const site = await context.sites.find('one.test')
      const by = await grown(async () => {
        await ask('public', 'GET', '/admin/public/config')
        await ask('public', 'POST', '/data/public/nothing')
        await ask('operator', 'GET', '/healthz')
        await context.securityEvents.note(site.siteId, { event: 'sign-in.failed', pool: 'data' })
        await stack.inSite('one.test', (tx) =>
          context.outboundMessages.enqueue(tx, site, {
            kind: 'invite',
            to: 'ann@one.test',
            subject: 'Hello',
            text: 'Hello',
            html: 'Hello',
          }),
        )
        const done = 'croft_queue_attempts_total{queue="outbound-mail",outcome="done"}'
        const before = (await scrape()).samples.get(done)
        await vi.waitUntil(async () => (await scrape()).samples.get(done) !== before)
      })
      expect(by('croft_http_requests_total{family="admin",status="2xx"}')).toBe(1)
      expect(by('croft_http_requests_total{family="calls",status="4xx"}')).toBe(1)
      expect(by('croft_http_request_duration_seconds_count{family="calls"}')).toBe(1)
      expect(by('croft_http_requests_total{family="probes",status="2xx"}')).toBeGreaterThan(1)
      expect(by('croft_sign_ins_total{pool="data",outcome="failed"}')).toBe(1)
      expect(by('croft_sign_ins_total{pool="data",outcome="succeeded"}')).toBe(0)
      expect(by('croft_mail_sent_total{outcome="kept"}')).toBeGreaterThan(0)
      expect(
        by('croft_queue_attempts_total{queue="outbound-mail",outcome="done"}'),
      ).toBeGreaterThan(0)
      expect(
        by('croft_postgres_statement_duration_seconds_count{pool="transactions"}'),
      ).toBeGreaterThan(3)
      expect(by('croft_postgres_failures_total{pool="transactions",reason="away"}')).toBe(0)
      // One that wavered would read as a restart.
      expect(by('process_start_time_seconds')).toBe(0)
    })
  })
})
