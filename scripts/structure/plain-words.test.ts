import { describe, expect, test } from 'vitest'

import { refusedWords } from './plain-words.ts'

const words = (path: string, text: string): string[] =>
  refusedWords(path, text).map(({ line, word }) => `${line} ${word}`)

describe('a word that a reader stumbles over is refused', () => {
  test.each([
    ['in a comment', '// Whoever reads\nexport const a = 1', '1 Whoever'],
    ['in a block, on its line', '/**\n * A.\n * Made anew.\n */\nexport const a = 1', '3 anew'],
    ['across lines', '/**\n * It is\n * gone for\n * good.\n */', '3 for good'],
    ['in a message', "throw new Error('The client is told')", '1 told'],
    ['in a template', 'log(`${a} changed meanwhile`)', '1 meanwhile'],
    ['in the title of a test', "test('asks nobody', () => {})", '1 nobody'],
  ])('%s', (_where, text, expected) => {
    expect(words('a.ts', text)).toEqual([expected])
  })

  test.each([
    ['a.md', '# A\n\nThe user whom it names.', '3 whom'],
    ['a.yml', '# It hears of it.\na: 1', '1 hears'],
    ['en.json', '{ "a": "Somebody signed in" }', '1 Somebody'],
  ])('in %s', (path, text, expected) => {
    expect(words(path, text)).toEqual([expected])
  })

  test('with what to write in its place', () => {
    expect(refusedWords('a.ts', '// It changed meanwhile.')[0]?.instead).toContain('since then')
  })
})

describe('a text passes', () => {
  test.each([
    ['with plain words', '// Resets the failures of this network only.'],
    ['with a name in a code span', '// The uid of `nobody`.'],
    ['where the word is a name in code', 'const nobody = whoever(1)'],
    ['of one word, which is data', "const users = ['nobody', 'somebody']"],
    ['with a name in quotes', `const a = 'resource "nobody" is unknown'`],
    ['with an address', "const a = 'to nobody@example.org or /nobody'"],
    ['where a word has its letters', "const a = 'Größere Wheres are thence'"],
  ])('%s', (_what, text) => {
    expect(words('a.ts', text)).toEqual([])
  })

  test('where Markdown shows code', () => {
    expect(words('a.md', 'Run `whoever`.\n\n```sh\necho meanwhile\n```\n')).toEqual([])
  })
})
