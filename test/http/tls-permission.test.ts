import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { operatorApp } from '#http/operator-app.ts'
import { RequestTraffic } from '#http/request-traffic.ts'
import { EventLoopLag } from '#platform/event-loop-lag.ts'
import { startHttpServer } from '#platform/http-server/http-server.ts'
import { request } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 30_000 }

describe('a proxy that asks for which names it may get certificates', () => {
  let stack: Stack
  let port = 0
  const cleanUp = new AsyncDisposableStack()
  beforeAll(async () => {
    stack = cleanUp.use(await startStack())
    // The listener of another replica: it receives changes, and makes none.
    const replica = cleanUp.use(await startStack({ beside: stack, works: false }))
    const config = { ...replica.context.config, operator: { host: '127.0.0.1', port: 0 } }
    const parts = { traffic: new RequestTraffic(), version: '1.2.3' }
    const eventLoop = cleanUp.use(new EventLoopLag())
    const app = operatorApp({ ...replica.context, config }, { ...parts, eventLoop })
    const fetch = (incoming: Request, peer: Parameters<typeof app.fetch>[1]) =>
      app.fetch(incoming, peer)
    const server = await startHttpServer({ fetch, hostname: '127.0.0.1', port: 0 })
    cleanUp.defer(() => server.drain(0))
    port = server.port
  })
  afterAll(() => cleanUp.disposeAsync())

  const asked = (domain: string) => {
    const path = `/tls-permission?domain=${encodeURIComponent(domain)}`
    return request({ port, host: '127.0.0.1', method: 'GET', path })
  }
  const statusOf = async (domain: string) => (await asked(domain)).status
  const becomes = (domain: string, status: number) =>
    vi.waitUntil(async () => (await statusOf(domain)) === status, PATIENCE)
  const change = async (names: object) => {
    const answer = await stack.portal('PATCH', '/sites/one.test', names)
    expect(answer.status, answer.text).toBe(200)
  }
  const names = async (...domains: readonly string[]) =>
    Promise.all(
      domains.map(async (domain) => {
        const { status, json } = await asked(domain)
        return [domain, status, json.domain ?? json.error.code]
      }),
    )

  test('is answered for each name of a site, also for former ones, and for no other one', async () => {
    const own = ['one.test', 'admin.one.test', 'auth.one.test'] as const
    expect(await names(...own)).toEqual([
      ['one.test', 200, 'one.test'],
      ['admin.one.test', 404, 'SiteNotFound'],
      ['auth.one.test', 404, 'SiteNotFound'],
    ])
    await change({ adminDomain: 'admin.one.test', authDomain: 'auth.one.test' })
    await becomes('auth.one.test', 200)
    expect(await names(...own)).toEqual(own.map((name) => [name, 200, 'one.test']))

    // The former name answers programs until the operator ends it.
    await change({ authDomain: 'id.one.test' })
    await becomes('id.one.test', 200)
    const all = [...own, 'id.one.test', 'AUTH.one.test.']
    expect(await names(...all)).toEqual(all.map((name) => [name, 200, 'one.test']))

    await change({ formerAuthDomains: [] })
    await becomes('auth.one.test', 404)
    expect(await names('id.one.test', 'admin.one.test', 'one.test')).toEqual([
      ['id.one.test', 200, 'one.test'],
      ['admin.one.test', 200, 'one.test'],
      ['one.test', 200, 'one.test'],
    ])
    await change({ adminDomain: null, authDomain: null, formerAuthDomains: [] })
    await becomes('id.one.test', 404)
    expect(await statusOf('admin.one.test')).toBe(404)
  })

  test('is answered for the console of a site, on the one name that it has', async () => {
    const [derived, own] = ['one-test.console.localhost', 'office.one.test']
    await change({ adminDomain: null })
    await becomes(derived, 200)
    expect(await names(derived, 'two-test.console.localhost')).toEqual([
      [derived, 200, 'one.test'],
      ['two-test.console.localhost', 200, 'two.test'],
    ])
    await change({ adminDomain: own })
    await becomes(derived, 404)
    expect(await names(own)).toEqual([[own, 200, 'one.test']])
    await change({ adminDomain: null })
    await becomes(derived, 200)
  })

  test.each([
    'console.localhost',
    'three-test.console.localhost',
    'x.one-test.console.localhost',
    '*.console.localhost',
    'one-test.console.localhost.evil.test',
    'auth.two.test',
    'admin.two.test',
    'x.auth.one.test',
    'authone.test',
    'auth.one.test.evil.test',
    '*.one.test',
    'auth.one.test/',
    'auth.one.test@evil.test',
    ' auth.one.test',
    '[::1]',
    '%',
    "x' or '1'='1",
  ])('is refused the name "%s"', async (domain) => {
    await change({ authDomain: 'auth.one.test' })
    await becomes('auth.one.test', 200)
    expect(await asked(domain)).toMatchObject({
      status: 404,
      json: { error: { code: 'SiteNotFound' } },
    })
  })

  test('is refused the names of a site that is gone', async () => {
    const site = { domain: 'gone.test', adminDomain: 'admin.gone.test', authDomain: 'a.gone.test' }
    const all = Object.values(site)
    expect(await statusOf('gone-test.console.localhost')).toBe(404)
    expect((await stack.portal('POST', '/sites', site)).status).toBe(200)
    for (const name of all) await becomes(name, 200)
    await stack.portal('DELETE', '/sites/gone.test', { confirm: true })
    for (const name of all) await becomes(name, 404)
  })
})
