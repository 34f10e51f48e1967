import { describe, expect, test } from 'vitest'

import { MethodTable } from './method-table.ts'

const table = new MethodTable([
  { method: 'POST', path: '/data/:operation' },
  { method: 'GET', path: '/data/auth/config' },
  { method: 'GET', path: '/files/*' },
  { method: 'PUT', path: '/files/*' },
  { method: 'GET', path: '/a.b' },
  { method: 'GET', path: '/nested/' },
])

describe('the method table', () => {
  test.each([
    ['/data/hello', 'POST'],
    ['/data/auth/config', 'GET'],
    ['/files/a/b', 'GET, PUT'],
    ['/a.b', 'GET'],
    ['/a.b/', 'GET'],
    ['/nested', 'GET'],
  ])('knows the methods of %s', (path, methods) => {
    expect(table.allowed(path)).toBe(methods)
  })

  test.each(['/data', '/data/a/b', '/axb', '/nothing'])('knows no method of %s', (path) => {
    expect(table.allowed(path)).toBeUndefined()
  })
})
