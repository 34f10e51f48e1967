import { build, stop } from 'esbuild'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import { originalPosition, readSourceMap } from './source-map.ts'
import { bundlePlaces, sourcePath, withOriginalPlaces } from './source-maps.ts'

const mapOf = (mappings: string, sources: readonly string[] = ['a.ts']) =>
  readSourceMap(JSON.stringify({ version: 3, sources, mappings, names: [] }))

/** The place of each `mark(n)` in a bundle. */
function marksIn(code: string): { readonly number: string; line: number; column: number }[] {
  return code.split('\n').flatMap((text, at) =>
    [...text.matchAll(/mark\((\d+)\)/g)].map((match) => ({
      number: match[1] ?? '',
      line: at + 1,
      column: match.index + 1,
    })),
  )
}

afterAll(() => stop())

describe('a source map', () => {
  test.each([true, false])(
    'of esbuild leads to where the code was written (minified: %s)',
    async (minify) => {
      const source = [
        'const greet = (name: string): string => `☂ ${name}`; globalThis.mark(1)',
        '',
        '  if (greet("x")) { globalThis.mark(2); globalThis.mark(3) }',
        'export default async () => {',
        '    await globalThis.mark(4)',
        '}',
      ].join('\n')
      const { outputFiles } = await build({
        stdin: { contents: source, sourcefile: 'functions/greet.ts', loader: 'ts' },
        bundle: true,
        write: false,
        format: 'esm',
        charset: 'ascii',
        outfile: 'functions/x.mjs',
        minifyWhitespace: minify,
        minifySyntax: minify,
        sourcemap: 'external',
      })
      const [mapText = '', code = ''] = outputFiles.map(({ text }) => text)
      const map = await readSourceMap(mapText)
      const found = marksIn(code)
      expect(found).toHaveLength(4)
      for (const { number, ...place } of found) {
        const original = map && originalPosition(map, place)
        const lines = source.split('\n')
        expect(lines[(original?.line ?? 0) - 1]?.slice((original?.column ?? 0) - 1)).toMatch(
          new RegExp(`^(?:globalThis\\.)?mark\\(${number}\\)`),
        )
      }
    },
  )

  test('has no place of what the bundler added', async () => {
    const map = await mapOf('AAAA,E;;CACA')
    expect(map && originalPosition(map, { line: 1, column: 1 })).toEqual({
      source: 'a.ts',
      line: 1,
      column: 1,
      content: undefined,
    })
    for (const [line, column] of [
      [1, 3],
      [2, 1],
      [3, 1],
      [9, 1],
      [0, 0],
    ] as const) {
      expect(map && originalPosition(map, { line, column })).toBeUndefined()
    }
    expect(map && originalPosition(map, { line: 3, column: 99 })).toMatchObject({ line: 2 })
  })

  test.each([
    ['no JSON', '{'],
    ['no source map', '{}'],
    ['another version', '{"version":2,"sources":[],"mappings":""}'],
    ['parts', '{"version":3,"sections":[]}'],
    ['a digit that is none', '{"version":3,"sources":[],"mappings":"A*"}'],
    ['a number without an end', '{"version":3,"sources":[],"mappings":"AAAg"}'],
    ['a number without an end, and more', '{"version":3,"sources":[],"mappings":"g;A"}'],
    ['a number that is too long', '{"version":3,"sources":[],"mappings":"gggggggA"}'],
    ['half a segment', '{"version":3,"sources":[],"mappings":"AA"}'],
    ['a segment that is too long', '{"version":3,"sources":[],"mappings":"AAAAAA"}'],
    ['a letter of another alphabet', '{"version":3,"sources":[],"mappings":"☂"}'],
  ])('is refused when it is %s', async (_, text) => {
    expect(await readSourceMap(text)).toBeUndefined()
  })

  test('takes any text, and any place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom(...'AACDEgz0+/,;;,*'.split('')) }),
        fc.integer(),
        fc.integer(),
        async (mappings, line, column) => {
          const map = await mapOf(mappings)
          const found = map && originalPosition(map, { line, column })
          expect(found === undefined || found.source === 'a.ts').toBe(true)
        },
      ),
    )
  })

  test('of millions of segments lets others run while it is read', async () => {
    let others = 0
    const counting = setInterval(() => (others += 1), 0)
    const map = await mapOf('AAAA,CAAC;'.repeat(400_000))
    clearInterval(counting)
    expect(others).toBeGreaterThan(5)
    expect(map && originalPosition(map, { line: 400_000, column: 2 })).toMatchObject({ line: 1 })
  })
})

describe('places in bundles', () => {
  const PATH = 'functions/save.ts.0123456789ab.bundle.mjs'

  test('are found in stacks, each once', () => {
    const text = `Error: no\n    at save (${PATH}:1:20)\n    at async ${PATH}:1:7\n    at save (${PATH}:1:20)\n    at x (functions/other.ts:1:2)`
    expect(bundlePlaces(text)).toEqual([
      { text: `${PATH}:1:20`, path: PATH, line: 1, column: 20 },
      { text: `${PATH}:1:7`, path: PATH, line: 1, column: 7 },
    ])
    const originals = new Map([[`${PATH}:1:20`, 'functions/save.ts:3:4']])
    expect(withOriginalPlaces(text, originals)).toBe(
      `Error: no\n    at save (functions/save.ts:3:4)\n    at async ${PATH}:1:7\n    at save (functions/save.ts:3:4)\n    at x (functions/other.ts:1:2)`,
    )
  })

  test.each([
    ['save.ts', 'functions/save.ts'],
    ['../lib/x.ts', 'lib/x.ts'],
    ['../../node_modules/zod/index.js', 'node_modules/zod/index.js'],
    ['../../../../shared/x.ts', 'shared/x.ts'],
  ])('of "%s" are those of %s', (source, path) => {
    expect(sourcePath(PATH, source)).toBe(path)
  })
})
