import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { RequestBody } from '#http/bodies/request-body.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'
import { routes } from '#http/routes.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let tokens: Record<string, string>
let declared: readonly Declared[]
beforeAll(async () => {
  stack = await startStack()
  const superAdmin = await stack.adminToken('one.test')
  tokens = {
    operator: stack.operatorKey,
    visitor: await stack.dataToken('one.test'),
    'role:user': superAdmin,
    'role:admin': superAdmin,
    'role:super-admin': superAdmin,
  }
  declared = routes(stack.context).routes.map(({ method, path, hooks }) => ({
    method,
    path,
    detail: hooks?.detail as RouteDeclaration['detail'],
    parameters: Object.keys(hooks?.query?.properties ?? {}),
    takesFields: hooks?.body !== undefined,
  }))
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Declared extends RouteDeclaration {
  readonly parameters: readonly string[]
  readonly takesFields: boolean
}

const nameOf = ({ method, path }: RouteDeclaration) => `${method} ${path}`
const authorityOf = ({ detail }: RouteDeclaration) => String(detail?.['x-authority'])
const tokenOf = (route: RouteDeclaration) => tokens[authorityOf(route)] ?? stack.operatorKey

/** Of admins, operators and those who deploy over the API. */
const guarded = () =>
  declared.filter(
    (route) => !['open', 'visitor', 'signed-url', 'repository'].includes(authorityOf(route)),
  )
const lists = () => guarded().filter(({ parameters }) => parameters.includes('limit'))

/** A path that leads to nothing, so that no attempt changes anything. */
const pathOf = ({ path }: RouteDeclaration) =>
  path
    .replace(/(?<=.)\/$/, '')
    .replace(':siteId', 'one.test')
    .replaceAll(/:\w+/g, 'none')

const ask = (route: RouteDeclaration, query: string, body?: object) =>
  stack.call('one.test', route.method, `${pathOf(route)}?${query}`, {
    token: tokenOf(route),
    ...(body && { body }),
  })

describe('a query parameter', () => {
  test('that a route does not know is refused on every route of admins and operators', async () => {
    expect(guarded().length).toBeGreaterThan(120)
    for (const route of guarded()) {
      const { status, json } = await ask(route, 'xyzzyxyzzy=1')
      expect({ status, details: json?.error.details }, nameOf(route)).toEqual({
        status: 400,
        details: [{ field: 'xyzzyxyzzy', message: 'is not a known parameter' }],
      })
    }
  })

  test('is ignored where links and pages lead, known or not', async () => {
    for (const path of ['/admin/public/config', '/data/auth/config', '/data/auth/methods']) {
      const token = tokens['visitor']
      const { status } = await stack.call('one.test', 'GET', `${path}?utm_source=mail`, { token })
      expect(status, path).toBe(200)
    }
  })

  test('that is nearly right gets the right one suggested', async () => {
    const { json } = await stack.call(
      'one.test',
      'GET',
      '/admin/api/messages?mailbx=a%40one.test',
      {
        token: tokens['role:admin'],
      },
    )
    expect(json.error.message).toBe('mailbx: is not a known parameter: did you mean "mailbox"?')
  })

  test('that counts once is refused when it comes twice', async () => {
    for (const route of lists()) {
      const { status, json } = await ask(route, 'limit=5&limit=5')
      expect({ status, details: json.error.details }, nameOf(route)).toEqual({
        status: 400,
        details: [{ field: 'limit', message: 'is given twice' }],
      })
    }
  })
})

describe('limit', () => {
  test.each(['0', '-1', '00', '1e3', '+5', '%205', '5%20', '5.0', '0x10', '', 'x'])(
    '%j is refused on every list',
    async (limit) => {
      expect(lists().length).toBeGreaterThan(20)
      for (const route of lists()) {
        const { status, json } = await ask(route, `limit=${limit}`)
        const fault = { field: 'limit', message: 'must be a whole number, 1 or more' }
        expect(json.error.details, nameOf(route)).toContainEqual(fault)
        expect({ status, code: json.error.code }, nameOf(route)).toEqual({
          status: 400,
          code: 'ValidationError',
        })
      }
    },
  )

  test.each(['101', '99999999999999', '9'.repeat(400), '007'])(
    '%s is good on every list',
    async (limit) => {
      for (const route of lists()) {
        const { status, text } = await ask(route, `limit=${limit}`)
        expect(text, nameOf(route)).not.toContain('"limit"')
        expect([200, 400, 404], nameOf(route)).toContain(status)
      }
    },
  )

  test('above the maximum is the maximum', async () => {
    const token = tokens['role:admin']
    for (let count = 0; count < 102; count += 1) {
      const body = { groupName: `g${count}` }
      await stack.call('one.test', 'POST', '/admin/data/groups', { token, body })
    }
    const lengths = []
    for (const query of ['', '?limit=99999999999999', '?limit=101', '?limit=3']) {
      const { json } = await stack.call('one.test', 'GET', `/admin/data/groups${query}`, { token })
      lengths.push(json.items.length)
    }
    expect(lengths).toEqual([25, 100, 100, 3])
  })
})

describe('a field', () => {
  test('that a route does not know is refused wherever JSON is taken', async () => {
    const takers = declared.filter(
      ({ method, path, detail }) =>
        method !== 'GET' &&
        !path.startsWith('/data/') &&
        !path.endsWith('/:action') &&
        (detail?.['x-request-body'] as RequestBody | undefined)?.isJson,
    )
    expect(takers.length).toBeGreaterThan(80)
    for (const route of takers) {
      const { status, json } = await stack.call('one.test', route.method, pathOf(route), {
        token: tokenOf(route),
        body: { colour: 'red' },
      })
      // A resource that is not there is said before its action is looked at.
      const expected = route.path.includes('/resources/:resourceId/data/') ? 404 : 400
      expect({ status, text: JSON.stringify(json) }, nameOf(route)).toMatchObject({
        status: expected,
        text: expect.stringMatching(expected === 404 ? 'NotFound' : /colour|not known/),
      })
    }
  })

  test('is not missed by a route that takes none', async () => {
    for (const body of [undefined, {}]) {
      const { status } = await stack.call('one.test', 'POST', '/admin/data/reconcile', {
        token: tokens['role:admin'],
        ...(body && { body }),
      })
      expect(status).toBe(200)
    }
  })
})
