import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test', 'two.test'] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const PRIVATE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const administration = () =>
  stack.app.routes.filter(({ path }) => /^\/(?:admin|portal)\//.test(path))

describe('the answers of the administration', () => {
  test('are kept by no cache and guessed at by no browser, for any caller', async () => {
    const routes = administration()
    expect(routes.length).toBeGreaterThan(150)
    const superAdmin = await stack.adminToken('one.test')
    for (const token of [undefined, superAdmin, stack.operatorKey]) {
      for (const { method, path } of routes) {
        const found = path.replace(':siteId', 'one.test').replaceAll(/:\w+/g, 'none')
        // Reads only: an anonymous one's are refused, and each of the others' is answered.
        if (token !== undefined && (method !== 'GET' || /\/stream\/?$/.test(path))) continue
        const { status, headers } = await stack.call('one.test', method, found, { token })
        expect({ status, ...headers }, `${method} ${path}`).toMatchObject(PRIVATE)
      }
    }
  })

  test('are so where there is no such route, no such site, and no such method', async () => {
    for (const [host, method, path] of [
      ['one.test', 'GET', '/admin/api/nowhere'],
      ['nobody.test', 'GET', '/admin/public/config'],
      ['two.test', 'PUT', '/admin/public/config'],
      ['two.test', 'GET', '/admin/public/onboarding/user?token=x'],
    ] as const) {
      expect((await stack.call(host, method, path)).headers, path).toMatchObject(PRIVATE)
    }
  })
})
