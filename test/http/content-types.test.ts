import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { RequestBody } from '#http/bodies/request-body.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let tokens: Record<string, string>
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
})
afterAll(() => stack[Symbol.asyncDispose]())

const bodyOf = ({ detail }: RouteDeclaration) => detail['x-request-body'] as RequestBody | undefined

const jsonRoutes = () =>
  stack.app.routes.filter(
    (route) => !['GET', 'HEAD'].includes(route.method) && bodyOf(route)?.isJson,
  )

/** A path that leads to nothing, so that no attempt changes anything. */
const pathOf = ({ path }: RouteDeclaration) =>
  path.replace(':siteId', 'one.test').replaceAll(/:\w+/g, 'none')

const send = (
  route: RouteDeclaration,
  headers: Readonly<Record<string, string>>,
  body: string | undefined = '{"a":1}',
) =>
  stack.call('one.test', route.method, pathOf(route), {
    token: tokens[String(route.detail['x-authority'])] ?? stack.operatorKey,
    headers,
    body,
  })

describe('every route that takes JSON', () => {
  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/jsonp',
    'application/json; charset=utf-16',
    undefined,
  ])('refuses a body that is sent as %s', async (type) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    expect(jsonRoutes().length).toBeGreaterThan(80)
    for (const route of jsonRoutes()) {
      const { status, json } = await send(route, headers)
      const where = `${route.method} ${route.path}`
      expect({ status, code: json.error.code }, where).toEqual({
        status: 415,
        code: 'UnsupportedMediaType',
      })
      expect(json.error.message, where).toContain('application/json')
    }
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/vnd.api+json',
  ])('reads one that is sent as %s', async (type) => {
    for (const route of jsonRoutes()) {
      const broken = await send(route, { 'content-type': type }, '{"a":')
      const where = `${route.method} ${route.path}`
      // A visitor's payload is parsed where it is run: never for an unknown operation.
      const code = route.path.includes(':operation') && route.path.startsWith('/data/')
      expect(broken.json.error.code, where).toBe(code ? 'OperationNotFound' : 'InvalidJson')
    }
  })

  test('does not ask for the type of a body that is not there', async () => {
    for (const route of jsonRoutes()) {
      const { status } = await send(route, { 'content-type': 'text/plain' }, '')
      expect(status, `${route.method} ${route.path}`).not.toBe(415)
    }
  })
})
