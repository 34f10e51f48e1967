import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FormBrowser } from '#test/form-browser.ts'
import { RegisteredParty } from '#test/registered-client.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SCOPES = { 'orders:read': 'See your orders', 'orders:write': 'Place orders for you' }

let stack: Stack
let second: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  for (const host of ['one.test', 'two.test']) await setScopes(SCOPES, host)
  site = await RuntimeSite.open(stack, 'one.test')
  const lambdaResourceId = await site.putFunction(
    'nested',
    `export default async ({ auth }, ctx) =>
       ({ user: auth.username, inner: await ctx.operation('inside', {}) })`,
  )
  await site.putOperation('open', { preset: { preset: 'echo' } })
  await site.putOperation('inside', { preset: { preset: 'echo' } })
  const read = { mode: 'authenticated', scopes: ['orders:read'] }
  const both = { mode: 'authenticated', scopes: ['orders:read', 'orders:write'] }
  await site.putOperation('orders', { lambdaResourceId, auth: read })
  await site.putOperation('place', { preset: { preset: 'echo' }, auth: both })
  const http = await site.putFunction('web', 'export default { fetch: () => new Response("web") }')
  await site.putOperation('web', { lambdaResourceId: http, auth: read, http: true })
  await site.synced()
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const setScopes = (scopes: object, host = 'one.test') =>
  stack.portal('PATCH', `/sites/${host}/auth`, { data: { scopes } })

/** The status of each operation for a token, the same on both replicas. */
async function statuses(token: string, host = 'one.test') {
  const statusOf = async (operation: string) => {
    const ask = (replica: Stack) =>
      replica.call(host, 'POST', `/data/${operation}`, { token, body: { payload: {} } })
    // Twice, for what is remembered of a token.
    const answers = [await ask(stack), await ask(second), await ask(stack)]
    const all = new Set(answers.map(({ status }) => status))
    return [operation, [...all].join(' and ')]
  }
  const names = ['open', 'orders', 'place', 'web']
  return Object.fromEntries(await Promise.all(names.map(statusOf)))
}

const NO_SCOPE = { open: '200', orders: '403', place: '403', web: '403' }
const READ = { open: '200', orders: '200', place: '403', web: '200' }
const BOTH = { open: '200', orders: '200', place: '200', web: '200' }

describe('an operation that asks for scopes', () => {
  test.each([
    ['authenticated', {}],
    ['groups', { groups: ['staff'] }],
  ])('is shown with them in mode %s', async (mode, more) => {
    await site.putGroups('staff')
    const auth = { mode, ...more, scopes: ['orders:read'] }
    const { json } = await site.putOperation('shown', { preset: { preset: 'echo' }, auth })
    expect(json.auth).toEqual(auth)
  })

  test('takes tokens of the site’s own application with these scopes', async () => {
    const party = await RelyingParty.of(stack, 'one.test')
    const tokensWith = async (scope: string | undefined) => {
      const sub = await party.user('vic@example.org')
      const { code } = await party.signIn(sub, { changes: { scope } })
      return (await party.exchange(code)).json
    }
    expect(await statuses((await tokensWith(undefined)).access_token)).toEqual(NO_SCOPE)
    expect(await statuses((await tokensWith('openid orders:read')).access_token)).toEqual(READ)
    const both = await tokensWith('openid orders:read orders:write orders:burn')
    expect(both.scope).toBe('openid orders:read orders:write')
    expect(await statuses(both.access_token)).toEqual(BOTH)
    const less = await party.refresh(both.refresh_token, { scope: 'orders:read' })
    expect(await statuses(less.json.access_token)).toEqual(READ)
    const again = await party.refresh(less.json.refresh_token)
    expect(await statuses(again.json.access_token)).toEqual(BOTH)
  })

  test('says which one is missing', async () => {
    const party = await RelyingParty.of(stack, 'one.test')
    const { access_token: token } = await party.tokens('vic@example.org')
    const { status, json } = await stack.call('one.test', 'POST', '/data/place', {
      token,
      body: { payload: {} },
    })
    expect(status).toBe(403)
    expect(json.error).toMatchObject({
      code: 'Forbidden',
      message:
        'Operation "place" needs an access token with the scope "orders:read" and "orders:write"',
    })
  })

  test('takes what the operator mints, which nothing bounds', async () => {
    expect(await statuses(await stack.dataToken('one.test'))).toEqual(BOTH)
  })

  test('takes tokens of others with these scopes; what it calls then is the site’s business', async () => {
    const app = await RegisteredParty.register(stack, 'one.test', { isThirdParty: true })
    const tokensWith = async (scope: string) => {
      const request = app.request({ scope, nonce: undefined })
      const { cookie } = await app.party.signIn(await app.party.user('mia@example.org'), {
        changes: request,
      })
      const browser = new FormBrowser(stack, 'one.test')
      const [name = '', token = ''] = cookie.split('=')
      browser.cookies.set(name, token)
      const asked = await browser.get(app.party.page('consent', request))
      expect(asked.text).toContain('It will be able to do this in your name:')
      expect(asked.text).toContain('<li>See your orders</li>')
      const answer = await browser.submit(asked, {})
      const location = new URL(String(answer.headers['location']))
      return (await app.exchange(location.searchParams.get('code') ?? '')).json
    }
    const read = await tokensWith('openid orders:read')
    expect(await statuses(read.access_token)).toEqual({ ...READ, open: '403' })
    const { json } = await stack.call('one.test', 'POST', '/data/orders', {
      token: read.access_token,
      body: { payload: {} },
    })
    expect(json.data).toMatchObject({ user: 'mia@example.org', inner: {} })
    const both = await tokensWith('orders:read orders:write')
    expect(await statuses(both.access_token)).toEqual({ ...BOTH, open: '403' })
    // Nothing else of the site opens.
    for (const path of ['/data/auth/methods', '/data/auth/providers']) {
      const { status } = await stack.call('one.test', 'GET', path, { token: both.access_token })
      expect([401, 404], path).toContain(status)
    }
    expect(await statuses(both.access_token, 'two.test')).toEqual({
      open: '401',
      orders: '401',
      place: '401',
      web: '401',
    })
  })

  test('closes when the operator takes the scope away, and opens again', async () => {
    const party = await RelyingParty.of(stack, 'one.test')
    const ask = async () => {
      const sub = await party.user('vic@example.org')
      const current = await RelyingParty.of(stack, 'one.test')
      const { code } = await current.signIn(sub, { changes: { scope: 'openid orders:read' } })
      return (await current.exchange(code)).json
    }
    await setScopes({})
    expect((await ask()).scope).toBe('openid')
    await setScopes(SCOPES)
    expect((await ask()).scope).toBe('openid orders:read')
  })
})

describe('the scopes of a site', () => {
  test('are listed by discovery, of visitors alone', async () => {
    const supported = async (kind: 'admin' | 'data') => {
      const party = await RelyingParty.of(stack, 'one.test', kind)
      return (await party.get('/.well-known/openid-configuration')).json.scopes_supported
    }
    expect(await supported('data')).toEqual([
      'openid',
      'email',
      'profile',
      'orders:read',
      'orders:write',
    ])
    expect(await supported('admin')).toEqual(['openid', 'email', 'profile'])
  })

  test('are named by operations only where they are', async () => {
    const put = (auth: object) =>
      site.admin('POST', '/operations', { operation: 'tried', preset: { preset: 'echo' }, auth })
    const fault = async (auth: object) => {
      const { status, json } = await put(auth)
      return [status, json.error?.details?.[0]?.field]
    }
    const mode = 'authenticated'
    expect(await fault({ mode, scopes: ['orders:burn'] })).toEqual([400, 'auth.scopes[0]'])
    expect(await fault({ mode, scopes: ['openid'] })).toEqual([400, 'auth.scopes[0]'])
    expect(await fault({ mode, scopes: ['constructor'] })).toEqual([400, 'auth.scopes[0]'])
    expect(await fault({ mode, scopes: [] })).toEqual([400, 'auth.scopes'])
    expect(await fault({ mode: 'public', scopes: ['orders:read'] })).toEqual([400, 'auth.scopes'])
    const { json } = await put({ mode, scopes: ['orders:read'] })
    expect(json.auth).toEqual({ mode, scopes: ['orders:read'] })
  })

  test.each([
    ['a name that has a meaning', { openid: 'x' }],
    ['a name with a blank', { 'orders read': 'x' }],
    ['no words', { 'orders:read': '' }],
    ['words of two lines', { 'orders:read': 'a\nb' }],
    ['too many', Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`s${at}`, 'x']))],
  ])('are refused with %s', async (_what, scopes) => {
    expect((await setScopes(scopes)).status).toBe(400)
    const admin = await stack.portal('PATCH', '/sites/one.test/auth', { admin: { scopes: {} } })
    expect(admin.status).toBe(400)
  })
})
