import { expect, test } from 'vitest'

import { readTestFile } from './test-file.ts'

test('a file is preceded by the scripts that it names, in their order', () => {
  const source = `// META: title=A title
// META: script=/common/gc.js?once
// META: script=../resources/util.js
// META: script=/resources/WebIDLParser.js
importScripts("/resources/testharness.js", 'more.js')
test(() => {})`
  expect(readTestFile('streams/piping/abort.any.js', source)).toEqual({
    path: 'streams/piping/abort.any.js',
    scripts: [
      'common/gc.js',
      'streams/resources/util.js',
      'resources/webidl2/lib/webidl2.js',
      'streams/piping/more.js',
    ],
    variants: [''],
  })
})

test('a file has a run for each variant, unless a variant is only a part of it', () => {
  const variants = '// META: variant=?a\n// META: variant=?b\n'
  expect(readTestFile('a.any.js', variants).variants).toEqual(['?a', '?b'])
  const split = `${variants}// META: script=/common/subset-tests-by-key.js\n`
  expect(readTestFile('a.any.js', split).variants).toEqual([''])
})
