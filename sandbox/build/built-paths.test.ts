import { describe, expect, test } from 'vitest'

import { leftBehind, toBuiltPaths } from './built-paths.ts'

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

  test.each([
    ["readFile(new URL('list.bin', import.meta.url))", "new URL('list.bin', import.meta.url)"],
    ["new URL('../a/page.html', import.meta.url)", "new URL('../a/page.html', import.meta.url)"],
    ["new URL('../sandbox/main.ts', import.meta.url)", undefined],
    ["new URL('.', import.meta.url)", undefined],
    ["new URL('./web', import.meta.url)", undefined],
  ])('to a file that no build has there end the build: %s', (source, missing) => {
    expect(leftBehind(source)).toBe(missing)
  })
})
