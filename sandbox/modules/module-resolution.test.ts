import { describe, expect, test } from 'vitest'

import { resolveModule } from './module-resolution.ts'

const FILES = new Set([
  'main.ts',
  'lib/a.ts',
  'lib/b.js',
  'lib/index.cjs',
  'data.json',
  'lib/deep/x.mjs',
  'index.js',
])

const resolve = (specifier: string, referrer: string) =>
  resolveModule(specifier, referrer, (path) => FILES.has(path))

describe('a module specifier', () => {
  test.each([
    ['./lib/a.ts', 'main.ts', 'lib/a.ts'],
    ['./lib/a', 'main.ts', 'lib/a.ts'],
    ['./lib/a.js', 'main.ts', 'lib/a.ts'],
    ['./b', 'lib/a.ts', 'lib/b.js'],
    ['./lib', 'main.ts', 'lib/index.cjs'],
    ['./lib/', 'main.ts', 'lib/index.cjs'],
    ['.', 'lib/a.ts', 'lib/index.cjs'],
    ['..', 'lib/a.ts', 'index.js'],
    ['../../data', 'lib/deep/x.mjs', 'data.json'],
    ['./deep/../b.js', 'lib/a.ts', 'lib/b.js'],
    ['.//lib///a', 'main.ts', 'lib/a.ts'],
  ])('%s in %s is %s', (specifier, referrer, path) => {
    expect(resolve(specifier, referrer)).toEqual({ ok: true, path })
  })

  test.each([
    ['lodash', 'main.ts', 'only relative paths'],
    ['node:fs', 'main.ts', 'only relative paths'],
    ['/etc/passwd', 'main.ts', 'only relative paths'],
    ['https://x.test/a.js', 'main.ts', 'only relative paths'],
    ['#lib/a', 'main.ts', 'only relative paths'],
    ['.hidden', 'main.ts', 'only relative paths'],
    ['', 'main.ts', 'only relative paths'],
    ['../main.ts', 'main.ts', 'leaves the artifact'],
    ['./../../x', 'lib/a.ts', 'leaves the artifact'],
    ['./nope', 'main.ts', 'does not exist'],
  ])('%s in %s is refused: %s', (specifier, referrer, reason) => {
    const found = resolve(specifier, referrer)
    expect(found).toMatchObject({ ok: false, message: expect.stringContaining(reason) })
    expect(found).toMatchObject({ message: expect.stringContaining(`"${specifier}"`) })
  })
})
