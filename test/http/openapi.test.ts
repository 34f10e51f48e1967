import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import type { OpenApiDocument, OperationObject } from '#http/openapi/document.ts'
import { routeRows } from '#test/route-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const ADMIN = '/admin/openapi.json'
const PORTAL = '/portal/api/openapi.json'

let stack: Stack
let admin: OpenApiDocument
let portal: OpenApiDocument
beforeAll(async () => {
  stack = await startStack()
  const token = await stack.adminToken('one.test', 'user')
  admin = (await stack.call('one.test', 'GET', ADMIN, { token })).json
  portal = (await stack.portal('GET', '/openapi.json')).json
})
afterAll(() => stack[Symbol.asyncDispose]())

const operationsOf = ({ paths }: OpenApiDocument): OperationObject[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

/** Method and path of each operation, as routes are named. */
const namesOf = ({ paths }: OpenApiDocument): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ),
  )

describe.each([
  ['/admin', () => admin],
  ['/portal', () => portal],
])('the document of %s', (prefix, document) => {
  test('has each route but those that refuse every request', () => {
    const routes = routeRows(stack.app.routes).filter(
      ({ path, responds }) =>
        (path === prefix || path.startsWith(`${prefix}/`)) && responds !== 'refusal',
    )
    expect(namesOf(document()).toSorted()).toEqual(routes.map(({ name }) => name).toSorted())
  })

  test('says of each operation which caller it takes and how it responds', () => {
    const schemes = Object.keys(document().components.securitySchemes)
    for (const { operationId, security, responses } of operationsOf(document())) {
      for (const requirement of security.flatMap(Object.keys))
        expect(schemes).toContain(requirement)
      expect(Object.keys(responses).length, operationId).toBeGreaterThan(1)
      expect(responses, operationId).toHaveProperty('default')
    }
  })

  test('lists the error of a caller without a credential', async () => {
    for (const [path, methods] of Object.entries(document().paths)) {
      for (const [method, { security, responses }] of Object.entries(methods)) {
        if (security.length === 0) continue
        const found = path.replace('{siteId}', 'one.test').replaceAll(/\{\w+\}/g, 'none')
        const { status, json } = await stack.call('one.test', method.toUpperCase(), found)
        expect(responses[status]?.description, `${method} ${path}`).toContain(json.error.code)
      }
    }
  })

  test('says nothing of how the service works inside', () => {
    const text = JSON.stringify(document())
    for (const name of [
      'x-request-body',
      'x-page',
      'x-mount',
      '"fault"',
      stack.operatorKey,
      installRoot(),
    ])
      expect(text.includes(name), name).toBe(false)
  })
})

describe('the document of /admin', () => {
  test('lists the errors of roles that are too low, of other hosts and of bodies that are no JSON', async () => {
    const user = await stack.adminToken('one.test', 'user')
    const superAdmin = await stack.adminToken('one.test')
    for (const [path, methods] of Object.entries(admin.paths)) {
      for (const [method, { security, responses, requestBody }] of Object.entries(methods)) {
        if (security.length === 0) continue
        const call = async (host: string, token: string, body?: string) => {
          const headers = { 'content-type': 'application/json' }
          const found = path.replaceAll(/\{\w+\}/g, 'none')
          return stack.call(host, method.toUpperCase(), found, { token, body, headers })
        }
        const errors = [await call('nowhere.test', user)]
        if (requestBody && 'application/json' in requestBody.content)
          errors.push(await call('one.test', superAdmin, '{'))
        if ('403' in responses) errors.push(await call('one.test', user))
        for (const { status, json } of errors)
          expect(responses[status]?.description, `${method} ${path}`).toContain(json.error.code)
      }
    }
  })

  test('is for anyone who is signed in to the admin pool of the site, and for no other', async () => {
    const visitor = await stack.dataToken('one.test')
    const other = await stack.adminToken('two.test')
    for (const token of [undefined, visitor, other, stack.operatorKey]) {
      const response = await stack.call('one.test', 'GET', ADMIN, { token })
      expect(response.status).toBe(401)
    }
  })

  test('is the same for each site and process, and is sent once', async () => {
    const token = await stack.adminToken('two.test')
    const first = await stack.call('two.test', 'GET', ADMIN, { token })
    expect(first.json).toEqual(admin)
    expect(first.headers['cache-control']).toBe('no-store')
    await using beside = await startStack({ beside: stack, works: false })
    const etag = first.headers['etag'] ?? ''
    const headers = { 'if-none-match': etag }
    const again = await beside.call('two.test', 'GET', ADMIN, { token, headers })
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag } })
  })

  test('may be read by the pages that administer the site', async () => {
    const token = await stack.adminToken('one.test')
    const origin = stack.baseUrl('one.test')
    const allowed = await stack.call('one.test', 'GET', ADMIN, { token, headers: { origin } })
    expect(allowed.headers['access-control-allow-origin']).toBe(origin)
    const headers = { origin: 'https://elsewhere.test' }
    const other = await stack.call('one.test', 'GET', ADMIN, { token, headers })
    expect(other.headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('describes a route with its role, parameters, body, responses and audit events', () => {
    expect(admin.paths['/admin/api/mailboxes/{address}/owners']?.['post']).toMatchObject({
      operationId: 'createMailboxOwner',
      tags: ['mailboxes'],
      security: [{ adminToken: ['admin'] }],
      'x-required-role': 'admin',
      'x-audit-events': ['mailbox.owners-changed'],
      parameters: [{ name: 'address', in: 'path', required: true, schema: { type: 'string' } }],
      requestBody: {
        required: true,
        description: 'At most 256 KiB.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/MailboxOwners' } } },
      },
      responses: {
        200: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Mailbox' } } },
        },
        default: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    })
  })
})

describe('the document of /portal', () => {
  test('is the operator’s', async () => {
    const token = await stack.adminToken('one.test')
    for (const credential of [undefined, token]) {
      const response = await stack.call('one.test', 'GET', PORTAL, { token: credential })
      expect(response.status).toBe(401)
    }
  })

  test('says which deploy tokens a route takes', () => {
    const path = '/portal/api/sites/{siteId}/deployments'
    expect(portal.paths[path]?.['post']).toMatchObject({
      security: [{ operatorKey: [] }, { deployToken: ['deploy'] }],
      'x-deploy-token-scopes': ['deploy'],
    })
    expect(portal.paths['/portal/api/sites']?.['get']?.security).toEqual([{ operatorKey: [] }])
  })
})
