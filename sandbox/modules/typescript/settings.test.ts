import { describe, expect, test } from 'vitest'

import { parseJsonWithComments } from './json-with-comments.ts'
import { settingsFor } from './settings.ts'

const settings = (path: string, files: Readonly<Record<string, string>>) =>
  settingsFor(path, new Map(Object.entries(files)))
const config = (compilerOptions: object, more: object = {}) =>
  JSON.stringify({ compilerOptions, ...more })

describe('JSON with comments', () => {
  test.each([
    ['{ // one\n "a": "// no", /* two */ "b": [1, 2, // three\n ], }', { a: '// no', b: [1, 2] }],
    ['\uFEFF{"a":"\\",}"}', { a: '",}' }],
    ['{"a":1} /* open', { a: 1 }],
    ['{a:1}', undefined],
    ['{"a":1,,}', undefined],
  ])('%j is read', (text, value) => {
    expect(parseJsonWithComments(text)).toEqual(value)
  })
})

describe("a file's TypeScript settings", () => {
  test('are those of Deno where nothing is said', () => {
    expect(settings('a/b.tsx', { 'package.json': '{}' })).toEqual({
      jsx: 'classic',
      jsxDev: false,
      jsxImportSource: undefined,
      jsxFactory: undefined,
      jsxFragmentFactory: undefined,
      experimentalDecorators: false,
      verbatimModuleSyntax: false,
    })
  })

  test('come from the nearest file above it, and from that of Deno first', () => {
    const files = {
      'tsconfig.json': config({ jsxFactory: 'root' }),
      'a/tsconfig.json': config({ jsxFactory: 'a' }),
      'b/deno.json': config({ jsxFactory: 'deno' }),
      'b/tsconfig.json': config({ jsxFactory: 'b' }),
    }
    const factories = ['x.tsx', 'a/c/x.tsx', 'b/x.tsx'].map(
      (path) => settings(path, files).jsxFactory,
    )
    expect(factories).toEqual(['root', 'a', 'deno'])
  })

  test('extend others, and name a source from the file that says it', () => {
    const files = {
      'apps/one/tsconfig.json': config({ jsx: 'react-jsx' }, { extends: '../../base/tsconfig' }),
      'base/tsconfig.json': config({ jsx: 'react', jsxImportSource: './runtime' }),
    }
    expect(settings('apps/one/x.tsx', files)).toMatchObject({
      jsx: 'automatic',
      jsxImportSource: './base/runtime',
    })
  })

  test('end where files extend each other in a circle, or are no JSON', () => {
    const files = {
      'a/tsconfig.json': config({ jsx: 'react-jsxdev' }, { extends: './b.json' }),
      'a/b.json': config({}, { extends: './tsconfig.json' }),
      'b/tsconfig.json': 'compilerOptions',
    }
    expect(settings('a/x.tsx', files)).toMatchObject({ jsx: 'automatic', jsxDev: true })
    expect(settings('b/x.tsx', files)).toMatchObject({ jsx: 'classic' })
  })
})
