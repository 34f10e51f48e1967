import { expect, test } from 'vitest'

import { doubledRoutes, tableRoutes } from './doubled-routes.ts'

const doubledIn = (...rows: readonly string[]) =>
  doubledRoutes(tableRoutes(rows.join('\n'))).map(({ method, path }) => `${method} ${path}`)

test('a route is doubled that the operator and admins have by the same method and path', () => {
  const doubled = doubledIn(
    '| Route | Authority |',
    '| `GET /admin/api/users/:userId` | role:admin |',
    '| `PATCH /admin/api/users/:userId` | role:admin |',
    '| `GET /admin/data/jobs` | role:admin |',
    '| `GET /portal/api/sites/:siteId` | operator |',
    '| `GET /portal/api/sites/:siteId/jobs` | operator |',
    '| `DELETE /portal/api/sites/:siteId/admin-users/:id` | operator |',
    '| `GET /portal/api/sites/:siteId/admin-users/:id` | operator |',
  )
  expect(doubled).toEqual([
    'GET /portal/api/sites/:siteId/jobs',
    'GET /portal/api/sites/:siteId/admin-users/:id',
  ])
})

test('a route is not doubled whose one declaration is mounted for both', () => {
  const doubled = doubledIn(
    '| Route | Authority | Mount |',
    '| `GET /admin/data/jobs` | role:admin | both |',
    '| `GET /portal/api/sites/:siteId/jobs` | operator | both |',
  )
  expect(doubled).toEqual([])
})
