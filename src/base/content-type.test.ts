import { describe, expect, test } from 'vitest'

import { contentTypeOf } from './content-type.ts'

describe('the type of a file', () => {
  test.each([
    ['index.html', 'text/html; charset=utf-8'],
    ['img/IMG_1.HEIC', 'image/heic'],
    ['app.apk', 'application/vnd.android.package-archive'],
    ['.well-known/apple-app-site-association', 'application/json; charset=utf-8'],
    ['apple-app-site-association', 'application/json; charset=utf-8'],
    ['x/apple-app-site-association.txt', 'text/plain; charset=utf-8'],
    ['constructor', 'application/octet-stream'],
    ['a.constructor', 'application/octet-stream'],
    ['.json', 'application/octet-stream'],
  ])('of %s is %s', (path, type) => {
    expect(contentTypeOf(path)).toBe(type)
  })
})
