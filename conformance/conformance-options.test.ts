import { expect, test } from 'vitest'

import { parseConformanceOptions } from './conformance-options.ts'

test('a folder of either suite is taken, with the areas of it', () => {
  expect(
    parseConformanceOptions(['--wpt', 'w', '--only', 'url, dom', '--beside', 'node']),
  ).toMatchObject({
    suite: 'wpt',
    folder: 'w',
    only: ['url', 'dom'],
    isBeside: true,
    listsFailures: false,
  })
  expect(parseConformanceOptions(['--deno', 'd', '--list-failures'])).toMatchObject({
    suite: 'deno',
    folder: 'd',
    only: undefined,
    isBeside: false,
    listsFailures: true,
  })
})

test('the function files are run alone, or some of them', () => {
  expect(parseConformanceOptions(['--functions', '--match', 'url/'])).toEqual({
    suite: 'functions',
    match: 'url/',
  })
})

test.each([
  [['--functions', '--wpt', 'w'], '--wpt: --functions is given alone'],
  [['--functions', '--list-failures'], '--list-failures: --functions is given alone'],
  [[], 'Give one folder'],
  [['--wpt', 'w', '--deno', 'd'], 'Give one folder'],
  [['--wpt', 'w', '--only', 'urls'], 'there is no "urls"'],
  [['--wpt', 'w', '--beside', 'deno'], 'it is "node", not "deno"'],
])('%j is refused', (args, message) => {
  expect(() => parseConformanceOptions(args)).toThrow(message)
})
