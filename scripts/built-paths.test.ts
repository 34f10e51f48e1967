import { describe, expect, test } from 'vitest'

import { toBuiltPaths } from './built-paths.ts'

describe('paths in a build', () => {
  test.each([
    ["import.meta.resolve('#sandbox/main.ts')", "import.meta.resolve('#sandbox/main.js')"],
    [
      "new URL(import.meta.resolve('./worker.ts')).href",
      "new URL(import.meta.resolve('./worker.js')).href",
    ],
    [
      "new URL('../sandbox/main.ts', import.meta.url)",
      "new URL('../sandbox/main.js', import.meta.url)",
    ],
  ])('of what is found at run time, end in .js: %s', (source, built) => {
    expect(toBuiltPaths(source)).toBe(built)
  })

  test.each([
    "import { x } from './x.ts'",
    "const ENTRY = 'index.ts'",
    "new URL('http://a.test/x.ts')",
  ])('of anything else stay: %s', (source) => {
    expect(toBuiltPaths(source)).toBe(source)
  })
})
