import { describe, expect, test } from 'vitest'

import { matchPath, pathTo } from './route-match.ts'

describe('a path', () => {
  test.each([
    ['/', '/', {}],
    ['/people/admins', '/people/admins', {}],
    ['/people/admins', '/people/admins/', {}],
    ['/people/admins/{userId}', '/people/admins/u-1', { userId: 'u-1' }],
    [
      '/tables/{name}/items/{key}',
      '/tables/a%2Fb/items/%7B%22k%22%3A1%7D',
      { name: 'a/b', key: '{"k":1}' },
    ],
  ])('is matched by %s: %s', (pattern, path, params) => {
    expect(matchPath(pattern, path)).toEqual(params)
  })

  test.each([
    ['/people/admins', '/people'],
    ['/people/admins', '/people/visitors'],
    ['/people/admins/{userId}', '/people/admins'],
    ['/people/admins/{userId}', '/people/admins/u-1/sessions'],
    ['/people/admins/{userId}', '/people/admins/%E0%A4%A'],
  ])('is not matched by %s: %s', (pattern, path) => {
    expect(matchPath(pattern, path)).toBeUndefined()
  })

  test('is made from its pattern, and read back', () => {
    const params = { name: 'ä/b?c#d', key: '%25' }
    const path = pathTo('/tables/{name}/items/{key}', params)
    expect(matchPath('/tables/{name}/items/{key}', path)).toEqual(params)
  })
})
