import { describe, expect, test } from 'vitest'

import { findFile } from './module-imports.ts'

const exists = (path: string): boolean => ['lib/a.ts', 'lib/outside.ts'].includes(path)

describe('the file of an import', () => {
  test.each([
    ['/lib/a', undefined, { ok: true, path: 'lib/a.ts' }],
    ['a', '/lib/a.ts', { ok: true, path: 'lib/a.ts' }],
    [
      'out',
      '../lib/outside.ts',
      '"lib/b.ts" imports "out", which the import map leads to "../lib/outside.ts", which leaves the artifact',
    ],
    [
      'gone',
      '/gone.ts',
      '"lib/b.ts" imports "gone", which the import map leads to "/gone.ts", which does not exist',
    ],
    ['/gone.ts', undefined, '"lib/b.ts" imports "/gone.ts", which does not exist'],
  ])('%s, led to %s, is found or reported', (specifier, mapped, expected) => {
    const found = findFile({ specifier, referrer: 'lib/b.ts', mapped }, exists)
    expect(found).toEqual(
      typeof expected === 'string' ? { ok: false, message: expected } : expected,
    )
  })
})
