import { expect, test } from 'vitest'

import { doubledRoutes, tableRoutes } from './declared-routes.ts'
import { readModule } from './module.ts'

const routesIn = (...files: readonly string[]) =>
  files.flatMap((text, at) => readModule(`src/http/${at}.ts`, text, {}).routes)

test('the routes of a file are those with a literal path below the prefix of their Elysia', () => {
  const routes = routesIn(`
    const one = () => new Elysia({ prefix: '/admin/api/aliases' }).use(auth(context))
      .get('/', list, {}).delete('/:address', remove).derive('/no', route)
    const two = new Elysia().post('/plain', work)
    const path = '/computed'
    new Elysia({ prefix: '/a' }).get(path, work)
    headers.get('/no')
  `)
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    'DELETE /admin/api/aliases/:address',
    'GET /admin/api/aliases',
    'POST /plain',
  ])
})

test('a route is doubled that the operator has a declaration of, and admins by the same method and path', () => {
  const declared = routesIn(
    "new Elysia({ prefix: '/portal/api/sites/:siteId/admin-users' }).get('/:id', get).delete('/:id', end)",
    "new Elysia({ prefix: '/portal/api/sites/:siteId' }).get('/jobs', list).get('/', get)",
    "new Elysia({ prefix: '/admin/data' }).get('/jobs', list)",
  )
  const mounted = tableRoutes(
    [
      '| Route | Authority |',
      '| `GET /admin/api/users/:userId` | role:admin |',
      '| `PATCH /admin/api/users/:userId` | role:admin |',
      '| `GET /admin/data/jobs` | role:admin |',
      '| `DELETE /portal/api/sites/:siteId/admin-users/:id` | operator |',
    ].join('\n'),
  )
  const doubled = doubledRoutes(declared, mounted)
  expect(doubled.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    'GET /portal/api/sites/:siteId/admin-users/:id',
    'GET /portal/api/sites/:siteId/jobs',
  ])
})
